/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The lock under which code is changed, and memory that may lie anywhere, without
 * libc's help: any thread of the program may need either, in the middle of anything.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"

/*
 * The patch lock: near memory, the byte index, the table of int3 and text being
 * written by threads of the program (call trees) or by the control side. A futex;
 * its holder takes no signal that could come from elsewhere and calls nothing outside of the agent, so nobody can
 * wait for himself. Innermost: taken under the control lock and the dynamic
 * linker's, never the other way round. What would take another lock, telling
 * libgcc about frames, is put off until the control side comes by.
 */
static SPI_FORK_DATA int patch_lock;

/*
 * But for fork(): libc takes malloc's locks, and that of all files, when its handlers have been called, and
 * the lock is held already. A thread that has one of these must not wait for a function's first call to be dealt with: it goes on without.
 */
static SPI_FORK_DATA int patch_forking;

/*
 * Once for each fork: who gives up in a handler of a signal that comes again and again would not get back in between to
 * what the fork waits for.
 */
static SPI_FORK_DATA uint32_t forks, fork_given_up;

static int lock_take_soon(void)
{
	const struct { int64_t s, ns; } timeout = { 0, SPI_FORK_MS * 1000000 };
	long waited = 0;
	int seen = 0;

	if (__atomic_compare_exchange_n(&patch_lock, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return 0;
	while (__atomic_exchange_n(&patch_lock, 2, __ATOMIC_ACQUIRE)) {
		uint32_t fork = __atomic_load_n(&forks, __ATOMIC_RELAXED);

		if (__atomic_load_n(&patch_forking, __ATOMIC_RELAXED) &&
				(waited == -ETIMEDOUT || __atomic_load_n(&fork_given_up, __ATOMIC_RELAXED) == fork)) {
			__atomic_store_n(&fork_given_up, fork, __ATOMIC_RELAXED);
			return -1;
		}
		waited = spi_raw4(SYS_futex, (uint64_t) &patch_lock, FUTEX_WAIT_PRIVATE, 2, (uint64_t) &timeout);
	}
	return 0;
}

/* What our own reads of memory may raise comes through, and int3, which another thread must not take for blocked by the program. */
#define HELD	(~(SPI_SIGNAL_BIT(SIGSEGV) | SPI_SIGNAL_BIT(SIGBUS) | SPI_SIGNAL_BIT(SIGTRAP)))

uint64_t spi_patch_lock(void)
{
	uint64_t before = spi_signals_hold(HELD);

	spi_word_lock(&patch_lock);
	return before;
}

int spi_patch_lock_soon(uint64_t *before)
{
	*before = spi_signals_hold(HELD);
	if (lock_take_soon() == 0)
		return 0;
	spi_signals_release(*before);
	return -1;
}

uint64_t spi_patch_lock_fork(void)
{
	uint64_t before = spi_patch_lock();

	__atomic_fetch_add(&forks, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&patch_forking, 1, __ATOMIC_RELAXED);
	return before;
}

void spi_patch_unlock_fork(uint64_t before)
{
	__atomic_store_n(&patch_forking, 0, __ATOMIC_RELAXED);
	spi_patch_unlock(before);
}

void spi_patch_unlock(uint64_t before)
{
	spi_word_unlock(&patch_lock);
	spi_signals_release(before);
}

uint64_t spi_mmap(uint64_t address, uint64_t size, int prot, int flags, int fd)
{
	long ret = spi_raw6(SYS_mmap, address, size, (uint64_t) prot, (uint64_t) flags, (uint64_t) (int64_t) fd, 0);

	return spi_raw_failed(ret) ? 0 : (uint64_t) ret;
}

void spi_munmap(uint64_t address, uint64_t size)
{
	spi_raw3(SYS_munmap, address, size, 0);
}

/*
 * An old size of 0 makes a second mapping of shared pages. No mapping gains the right to be run: systemd's
 * MemoryDenyWriteExecute refuses that.
 */
uint64_t spi_code_map(uint64_t rx, uint64_t size, uint8_t **rw)
{
	int flags = MAP_SHARED | MAP_ANONYMOUS | (rx ? MAP_FIXED : 0);
	uint64_t code = spi_mmap(rx, size, PROT_READ | PROT_EXEC, flags, -1);
	long alias = code ? spi_raw6(SYS_mremap, code, 0, size, MREMAP_MAYMOVE, 0, 0) : -ENOMEM;

	if (!spi_raw_failed(alias) && spi_raw3(SYS_mprotect, (uint64_t) alias, size, PROT_READ | PROT_WRITE) == 0) {
		*rw = (uint8_t *) alias;
		return code;
	}
	if (!spi_raw_failed(alias))
		spi_munmap((uint64_t) alias, size);
	if (code && !rx)
		spi_munmap(code, size);
	return 0;
}

struct pool {
	uint64_t used, size;
};
static struct pool *pool;

/* Any thread, any time: the current pool's cursor is moved atomically, a race for a new pool is lost without harm. */
void *spi_alloc(size_t size)
{
	size = (size + 15) & ~(size_t) 15;
	if (size >= 64 << 10)
		return (void *) spi_mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	for (;;) {
		struct pool *p = __atomic_load_n(&pool, __ATOMIC_ACQUIRE), *fresh;

		if (p) {
			uint64_t at = __atomic_fetch_add(&p->used, size, __ATOMIC_RELAXED);

			if (at + size <= p->size)
				return (uint8_t *) p + at;
		}
		fresh = (struct pool *) spi_mmap(0, 256 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (!fresh)
			return NULL;
		fresh->used = 64;
		fresh->size = 256 << 10;
		if (!__atomic_compare_exchange_n(&pool, &p, fresh, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			spi_munmap((uint64_t) fresh, 256 << 10);
	}
}
