/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * lttng-ust calls functions that are cancellation points while it records: write() where a sub-buffer is full
 * (sigtimedwait(), where nobody reads that), poll() where a channel waits for room, read() for a perf counter's
 * context. A thread whose cancellation is due would end there, in the middle of a record and where the program has no
 * such point. So in a thread that is recording the tracer's pointers lead to the bare system calls.
 *
 * A thread that is cancelled at any instruction (PTHREAD_CANCEL_ASYNCHRONOUS) is unwound by libc's handler of the
 * signal: leave-unwind.c completes the record.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"

static __typeof__(&write) next_write;
static __typeof__(&read) next_read;
static __typeof__(&poll) next_poll;
static __typeof__(&sigtimedwait) next_sigtimedwait;
static __typeof__(&pthread_cancel) next_pthread_cancel;

static int is_recording(void)
{
	return spi_thread.busy && spi_thread.busy < SPI_BUSY_ALWAYS;
}

static long result_of(long result)
{
	if (result >= 0)
		return result;
	errno = (int) -result;
	return -1;
}

static ssize_t tracer_write(int fd, const void *from, size_t size)
{
	return is_recording() ? result_of(spi_sys(SYS_write, (long) fd, from, size)) : SPI_NEXT(write)(fd, from, size);
}

static ssize_t tracer_read(int fd, void *to, size_t size)
{
	return is_recording() ? result_of(spi_sys(SYS_read, (long) fd, to, size)) : SPI_NEXT(read)(fd, to, size);
}

static int tracer_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	return is_recording() ? (int) result_of(spi_sys(SYS_poll, fds, n, (long) timeout_ms)) :
		SPI_NEXT(poll)(fds, n, timeout_ms);
}

static int tracer_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	return is_recording() ? (int) result_of(spi_sys(SYS_rt_sigtimedwait, set, info, timeout, 8L)) :
		SPI_NEXT(sigtimedwait)(set, info, timeout);
}

/*
 * lttng-ust's destructor ends its listeners. In a forked child that has not begun there are none, and another thread of the program's may have
 * the stack, and so the name, of one.
 */
static int tracer_cancel(pthread_t thread)
{
	return spi_mode_is_child() ? 0 : SPI_NEXT(pthread_cancel)(thread);
}

#define ROW(name, with)	{ #name, (void *) with, (void **) &next_##name, .ways = SPI_HOOK_TRACER }
const struct spi_hook spi_cancel_hooks[] = {
	ROW(write, tracer_write),
	ROW(read, tracer_read),
	ROW(poll, tracer_poll),
	ROW(sigtimedwait, tracer_sigtimedwait),
	ROW(pthread_cancel, tracer_cancel),
	{ NULL },
};
