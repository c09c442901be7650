/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The status page: counters that outlive the process, because the controller
 * maps the same memfd. Threads count in their own records without atomics; a
 * record is folded into the page when its thread ends, when a rule goes, and when
 * the process ends. Children share their parent's page until they have a
 * controller of their own.
 *
 * Without a controller no descriptor is kept: the page is private memory then,
 * and its memfd is made when one asks.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <linux/memfd.h>
#include <fcntl.h>
#include "liblttng-spi/core.h"

static union {
	struct spi_status_page page;
	uint8_t bytes[4096];
} boot __attribute__((aligned(4096)));
struct spi_status_page *spi_status = &boot.page;
static int fold_lock;	/* guards every record's `folded`; innermost, held for a few adds, never in a signal handler */

int spi_status_init(void)
{
	boot.page.magic = SPI_STATUS_MAGIC;
	boot.page.version = SPI_PROTO_VERSION;
	return 0;
}

/*
 * A descriptor for a controller: a fresh memfd takes the page's place at the same
 * address, so nobody's pointer changes. Its counters begin at zero: each
 * controller is told of its own time. What other threads fold in that instant
 * would be lost, hence the lock.
 */
int spi_status_fd(void)
{
	struct spi_status_page fresh = { .magic = SPI_STATUS_MAGIC, .version = SPI_PROTO_VERSION };
	long fd = spi_sys(SYS_memfd_create, "lttng-spi-status", MFD_CLOEXEC | MFD_ALLOW_SEALING), r;

	if (fd < 0)
		return (int) fd;
	spi_status_fold_all();
	fresh.points = boot.page.points;
	while (__atomic_exchange_n(&fold_lock, 1, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
	r = spi_sys(SYS_write, fd, &fresh, sizeof(fresh));
	if (r == (long) sizeof(fresh))
		r = spi_sys(SYS_ftruncate, fd, sizeof(boot)) == 0 ? (long) sizeof(boot) : -1;
	if (r == (long) sizeof(boot))
		r = spi_sys(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	if (r >= 0)
		r = spi_sys(SYS_mmap, &boot, sizeof(boot), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0L);
	__atomic_store_n(&fold_lock, 0, __ATOMIC_RELEASE);
	if (r < 0 && r > -4096) {
		spi_sys(SYS_close, fd);
		return (int) r;
	}
	return (int) fd;
}

void spi_status_fold(struct spi_thread_record *record)
{
	struct spi_status_page *page = spi_status;

	while (__atomic_exchange_n(&fold_lock, 1, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
#define FOLD(field) do { \
		uint64_t now = __atomic_load_n(&record->count.field, __ATOMIC_RELAXED); \
		__atomic_fetch_add(&page->field, now - record->folded.field, __ATOMIC_RELAXED); \
		record->folded.field = now; \
	} while (0)
	FOLD(entries);
	FOLD(exits);
	FOLD(lost_entries);
	FOLD(lost_exits);
	FOLD(owed_exits);
	FOLD(nested_skipped);
	FOLD(slots_exhausted);
	FOLD(strings_unreadable);
#undef FOLD
	__atomic_store_n(&fold_lock, 0, __ATOMIC_RELEASE);
}

void spi_status_fold_all(void)
{
	for (struct spi_thread_record *r = spi_threads_first(); r; r = r->next)
		spi_status_fold(r);
}

/* In the child of a fork: the lock may have been another thread's, and the parent counts what the records held. */
void spi_status_fork_child(void)
{
	fold_lock = 0;
	for (struct spi_thread_record *r = spi_threads_first(); r; r = r->next)
		r->folded = r->count;
}
