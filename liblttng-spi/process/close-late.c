/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * close() that must not wait.
 *
 * lttng-ust's list of its descriptors has a lock, which its handler of fork() takes, and libc's fork() takes malloc()'s locks and that of
 * all streams after that. So a signal handler that has interrupted malloc() and closes a descriptor would wait for a
 * fork that waits for it. Who closes therefore says so before it goes in there (`inside`), and stays outside while a thread is
 * about to fork, which waits for those that are inside; no longer than SPI_FORK_MS, though.
 *
 * And a thread's first look into the list allocates memory (calls/first-call.c): such a handler would wait for itself.
 *
 * What cannot be closed for one of these reasons is noted, and closed when the fork is over, in the parent and in the child, by
 * the control thread, or by who closes next. Not in a child that has this memory, or a copy of it, and not by fork(): that has nothing
 * of lttng-ust's to lose, and closes at once.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/process/internal.h"

#define INSIDE_MS	1000	/* for who is inside: a close() may take its time */
#define LATE_MOST	1024u	/* further ones stay open, with EBADF: nobody may wait here */

static SPI_FORK_DATA int inside;
static SPI_FORK_DATA int forking;		/* a futex */
static SPI_FORK_DATA const struct spi_thread *forker;
static SPI_FORK_DATA uint32_t forks, given_up;	/* how many; which of them somebody did not wait for */
SPI_FORK_DATA uint32_t spi_closes_noted;		/* or about to be */

enum { LATE_FREE, LATE_BEING_NOTED, LATE_NOTED, LATE_BEING_CLOSED };

/* What is to be closed later. The number may be another file's by then, hence the file itself. */
static struct {
	int state;
	int fd;
	uint64_t device, inode;
} late[LATE_MOST];

static int change(int *state, int from, int to)
{
	return __atomic_compare_exchange_n(state, &from, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static void late_close(void)
{
	struct stat now;
	int error = errno;

	if (!__atomic_load_n(&spi_closes_noted, __ATOMIC_SEQ_CST))
		return;
	for (uint32_t i = 0; i < LATE_MOST; i++) {
		if (!change(&late[i].state, LATE_NOTED, LATE_BEING_CLOSED))
			continue;
		if (spi_sys(SYS_fstat, (long) late[i].fd, &now) == 0 && now.st_dev == late[i].device && now.st_ino == late[i].inode)
			spi_descriptor_close(late[i].fd);
		__atomic_fetch_sub(&spi_closes_noted, 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&late[i].state, LATE_FREE, __ATOMIC_SEQ_CST);
	}
	errno = error;
}

void spi_close_noted(void)
{
	if (!__atomic_load_n(&spi_closes_noted, __ATOMIC_SEQ_CST) || !spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		return;
	__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&forking, __ATOMIC_SEQ_CST))
		late_close();
	spi_close_end();
}

int spi_close_note(int fd)
{
	struct stat stat;
	long ret = spi_sys(SYS_fstat, (long) fd, &stat);

	if (ret < 0)
		return (int) ret;
	if (!spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		return (int) spi_sys(SYS_close, (long) fd);
	for (uint32_t i = 0; i < LATE_MOST; i++)	/* closed already, as far as the program knows */
		if (__atomic_load_n(&late[i].state, __ATOMIC_ACQUIRE) == LATE_NOTED && late[i].fd == fd &&
				late[i].device == stat.st_dev && late[i].inode == stat.st_ino)
			return -EBADF;
	__atomic_fetch_add(&spi_closes_noted, 1, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < LATE_MOST; i++) {
		if (!change(&late[i].state, LATE_FREE, LATE_BEING_NOTED))
			continue;
		late[i].fd = fd;
		late[i].device = stat.st_dev;
		late[i].inode = stat.st_ino;
		__atomic_store_n(&late[i].state, LATE_NOTED, __ATOMIC_SEQ_CST);
		return 0;
	}
	__atomic_fetch_sub(&spi_closes_noted, 1, __ATOMIC_SEQ_CST);
	return -EBADF;
}

int spi_close_begin(void)
{
	const struct { int64_t s, ns; } timeout = { 0, SPI_FORK_MS * 1000000 };
	long waited = 0;

	for (;;) {
		uint32_t fork = __atomic_load_n(&forks, __ATOMIC_RELAXED);

		__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
		if (spi_likely(!__atomic_load_n(&forking, __ATOMIC_SEQ_CST)) ||
				__atomic_load_n(&forker, __ATOMIC_RELAXED) == &spi_thread)
			return 0;
		spi_close_end();
		/* a handler of a signal that comes again and again would not get back if it waited each time */
		if (waited == -ETIMEDOUT || __atomic_load_n(&given_up, __ATOMIC_RELAXED) == fork) {
			__atomic_store_n(&given_up, fork, __ATOMIC_RELAXED);
			return -1;
		}
		waited = spi_sys(SYS_futex, &forking, FUTEX_WAIT_PRIVATE, 1L, &timeout);
	}
}

void spi_close_end(void)
{
	__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
	if (spi_unlikely(__atomic_load_n(&forking, __ATOMIC_SEQ_CST)))
		spi_sys(SYS_futex, &inside, FUTEX_WAKE_PRIVATE, 1L);
}

void spi_close_fork_begin(void)
{
	const struct { int64_t s, ns; } timeout = { 0, 10000000 };
	uint64_t until = spi_now_ns() + INSIDE_MS * UINT64_C(1000000);
	int now;

	__atomic_fetch_add(&forks, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&forker, &spi_thread, __ATOMIC_RELAXED);
	__atomic_store_n(&forking, 1, __ATOMIC_SEQ_CST);
	while ((now = __atomic_load_n(&inside, __ATOMIC_SEQ_CST)) && spi_now_ns() < until)
		spi_sys(SYS_futex, &inside, FUTEX_WAIT_PRIVATE, (long) now, &timeout);
}

/* Who was about to, or is inside, is not in the child. */
static void fork_child(void)
{
	uint32_t noted = 0;

	inside = 0;
	for (uint32_t i = 0; i < LATE_MOST && spi_closes_noted; i++)
		if (late[i].state == LATE_NOTED)
			noted++;
		else if (late[i].state != LATE_FREE)
			late[i].state = LATE_FREE;
	spi_closes_noted = noted;
}

void spi_close_fork_end(int is_child)
{
	if (is_child)
		fork_child();
	__atomic_store_n(&forker, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&forking, 0, __ATOMIC_SEQ_CST);
	spi_sys(SYS_futex, &forking, FUTEX_WAKE_PRIVATE, (long) INT32_MAX);
	late_close();
}
