/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The status memory: counters that outlive the process, because the controller
 * maps the same memfd. Each thread counts in a block of its own, without atomics,
 * and the reader adds the blocks up. So nothing has to be brought in before the
 * process ends, executes another program or is killed.
 *
 * A child shares its parent's memory until it has a controller of its own; its
 * threads take blocks that nobody had. Threads beyond the last block share it, and
 * may count too little.
 *
 * Without a controller no descriptor is kept: the memory is private then, and its
 * memfd is made when one asks.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"

#define COUNTERS	8u
_Static_assert(sizeof(struct spi_thread_record) == sizeof(struct spi_status_block), "one block a thread");
_Static_assert(sizeof(struct spi_thread_count) == COUNTERS * sizeof(uint64_t), "as many counters in both");
_Static_assert(offsetof(struct spi_status_page, strings_unreadable) - offsetof(struct spi_status_page, entries) ==
	offsetof(struct spi_thread_count, strings_unreadable), "in the same order");

static struct {
	union {
		struct spi_status_page page;
		uint8_t bytes[SPI_STATUS_BLOCKS_AT];
	};
	struct spi_thread_record records[SPI_STATUS_BLOCKS_MAX];
} memory __attribute__((aligned(4096)));
struct spi_status_page *spi_status = &memory.page;
/*
 * Guards giving out records, and the change of memory. Innermost,
 * held for a moment, by threads with their signals blocked or the control side.
 */
static SPI_FORK_DATA int status_lock;

/*
 * A forked child has its parent's memory until it begins, and takes no block of it: what its thread counts until then is told to nobody.
 * It has as many points as its parent had when it forked.
 */
static SPI_FORK_DATA struct spi_thread_record nowhere;
static SPI_FORK_DATA uint64_t points_inherited;
static SPI_FORK_DATA int is_parents;

static void lock(void)
{
	while (__atomic_exchange_n(&status_lock, 1, __ATOMIC_ACQUIRE))
		spi_pause();
}

static void unlock(void)
{
	__atomic_store_n(&status_lock, 0, __ATOMIC_RELEASE);
}

int spi_status_init(void)
{
	memory.page.magic = SPI_STATUS_MAGIC;
	memory.page.version = SPI_PROTO_VERSION;
	return 0;
}

static uint64_t *counters_of(struct spi_thread_count *count)
{
	return (uint64_t *) count;
}

/* ---- records ---- */

static int is_shared(const struct spi_thread_record *record)
{
	return record >= memory.records && record < memory.records + SPI_STATUS_BLOCKS_MAX;
}

/* Under the lock. */
static struct spi_thread_record *record_take(void)
{
	if (is_parents)
		return spi_map_pages(sizeof(struct spi_thread_record));
	if (memory.page.blocks < SPI_STATUS_BLOCKS_MAX)
		memory.page.blocks++;
	return &memory.records[memory.page.blocks - 1];
}

int spi_status_record_get(struct spi_thread_own *own)
{
	lock();
	if (!own->record)
		own->record = record_take();
	unlock();
	return own->record ? 0 : -1;
}

void spi_status_points_change(int change)
{
	uint64_t *points = is_parents ? &points_inherited : &memory.page.points;

	__atomic_fetch_add(points, (uint64_t) (int64_t) change, __ATOMIC_RELAXED);
}

/* In the child of a fork: the lock may have been another thread's. What the records hold is the parent's to tell. */
void spi_status_fork_child(void)
{
	struct spi_thread *t = &spi_thread;

	status_lock = 0;
	for (struct spi_thread_own *own = spi_threads_first(); own; own = own->next) {
		if (own->record && !is_shared(own->record))
			memset(&own->record->count, 0, sizeof(own->record->count));
		else
			own->record = NULL;
	}
	points_inherited = memory.page.points;
	is_parents = 1;
	if (t->own && !t->own->record)
		t->record = &nowhere;
}

/*
 * The thread that has begun the child got its block while the page was the parent's: the thread moves to where the child's controller
 * looks. The block stays mapped, as the control thread may be about to count there for the thread (ledger/close.c).
 */
static void record_share(struct spi_thread_own *own)
{
	struct spi_thread_record *old = own->record, *record = record_take();
	struct spi_thread *t = (struct spi_thread *) own->thread;

	for (unsigned int i = 0; record && i < COUNTERS; i++)
		counters_of(&record->count)[i] += counters_of(&old->count)[i];
	if (!record)
		return;
	own->record = record;
	if (t && t->record == old)
		t->record = record;
}

static void record_move(struct spi_thread *t)
{
	lock();
	if (!is_parents && !is_shared(t->own->record))
		record_share(t->own);
	unlock();
}

int spi_status_child_thread(struct spi_thread *t)
{
	if (t->own && t->own->record)
		record_move(t);
	if (t->record == &nowhere && spi_status_record_get(t->own) == 0)
		t->record = t->own->record;
	return t->record == &nowhere ? -1 : 0;
}

/* ---- calls that are not recorded ---- */

/* A thread that has no block yet, as its first call is not recorded, counts in the page. */
SPI_EXPORT void spi_call_missed(enum spi_lost why)
{
	struct spi_thread *t = &spi_thread;
	const int is_known = !spi_thread_is_foreign(t) && t->record && t->record != &nowhere;

	__atomic_fetch_add(&memory.page.lost_by[why], 1, __ATOMIC_RELAXED);
	if (why < SPI_LOST_KINDS && is_known)
		t->record->count.lost_entries++;
	else if (why < SPI_LOST_KINDS)
		__atomic_fetch_add(&memory.page.lost_entries, 1, __ATOMIC_RELAXED);
}

/* ---- a controller ---- */

/* The blocks as they are, and a page in which these count for nothing. */
static long memory_write(long fd, struct spi_status_page *fresh)
{
	static struct spi_thread_record some[64];	/* under the lock */
	uint64_t *total = &fresh->entries;
	long r = 0;

	for (uint64_t at = 0; r >= 0 && at < fresh->blocks; at += 64) {
		uint64_t n = fresh->blocks - at < 64 ? fresh->blocks - at : 64;

		memcpy(some, &memory.records[at], n * sizeof(some[0]));
		for (uint64_t i = 0; i < n; i++)
			for (unsigned int c = 0; c < COUNTERS; c++)
				total[c] -= counters_of(&some[i].count)[c];
		r = spi_sys(SYS_pwrite64, fd, some, n * sizeof(some[0]),
			(long) (SPI_STATUS_BLOCKS_AT + at * sizeof(some[0])));
	}
	return r < 0 ? r : spi_sys(SYS_pwrite64, fd, fresh, sizeof(*fresh), 0L);
}

/*
 * A descriptor for a controller: a fresh memfd takes the memory's place at the
 * same address, so nobody's pointer changes. Its counters begin at zero: each
 * controller is told of its own time. A call that another thread counts between
 * the copy and the change is in the old memory: the last controller's time.
 */
int spi_status_fd(void)
{
	struct spi_status_page fresh = { .magic = SPI_STATUS_MAGIC, .version = SPI_PROTO_VERSION };
	long fd = -EFBIG, r;

	if (spi_file_fits(sizeof(memory)))
		fd = spi_sys(SYS_memfd_create, "lttng-spi-status", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return (int) fd;
	lock();
	fresh.points = is_parents ? points_inherited : memory.page.points;
	if (!is_parents)
		fresh.blocks = memory.page.blocks;
	r = spi_sys(SYS_ftruncate, fd, sizeof(memory));
	if (r == 0)
		r = memory_write(fd, &fresh);
	if (r >= 0)
		r = spi_sys(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	if (r >= 0)
		r = spi_sys(SYS_mmap, &memory, sizeof(memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0L);
	is_parents &= r < 0 && r > -4096;
	for (struct spi_thread_own *own = is_parents ? NULL : spi_threads_first(); own; own = own->next)
		if (own->in_use && own->record && !is_shared(own->record))
			record_share(own);
	unlock();
	if (r < 0 && r > -4096) {
		spi_sys(SYS_close, fd);
		return (int) r;
	}
	return (int) fd;
}
