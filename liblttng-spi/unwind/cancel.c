/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Threads that are cancelled at any instruction (PTHREAD_CANCEL_ASYNCHRONOUS), where that is in a record being made.
 *
 * libc's handler unwinds the thread's stack then, and never comes back: the record would be left as one is that a handler leaves
 * by siglongjmp() (leave.c). So ours comes before it: a thread that is recording goes on, signals blocked, to the
 * payload's end, which leads to spi_cancel_again, and gets the signal once more there.
 *
 * libc has its handler installed by the first pthread_cancel() of a process, and sends the signal in the same call. To be before
 * that, the control thread cancels itself, with its cancellation disabled for good, which nothing ever comes of. libc loads
 * libgcc_s then, and the control thread may not wait for the dynamic linker, whose lock a constructor of the program's may hold: so libc
 * is made to have it where the agent has just loaded it (patch/frames.c). SIGCANCEL is the first real-time
 * signal (glibc, sysdeps/unix/sysv/linux/internal-signals.h); what is not libc's is let through as it came.
 *
 * And lttng-ust calls functions that are cancellation points while it records: write() where a sub-buffer is full (sigtimedwait(),
 * where nobody reads that), poll() where a channel waits for room, read() for a perf counter's context. A thread whose cancellation is due would end there, in the
 * middle of a record and where the program has no such point; and who is cancelled just then waits for the signal at the
 * function's end, which was put off (glibc, __pthread_disable_asynccancel()). So in a thread that is recording the
 * tracer's pointers lead to the bare system calls.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/unwind/leave.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/calls/internal.h"

#define SIGCANCEL	32

static void (*libc_handler)(int number, siginfo_t *info, void *context);
static int is_linked;		/* libc has libgcc_s */
static int control_tid;

/* ---- lttng-ust's own cancellation points ---- */

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

/* ---- the signal ---- */

/* spi_cancel_again(): the payload has returned. */
void spi_cancel_take(uint64_t *back) SPI_HIDDEN __attribute__((used));
void spi_cancel_take(uint64_t *back)
{
	const struct spi_leave *leave = &spi_thread.own->leave;
	uint64_t mask = leave->mask;

	*back = leave->ra;
	spi_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t) &mask, 0, 8);
	spi_raw3(SYS_tgkill, (uint64_t) spi_sys(SYS_getpid), (uint64_t) spi_sys(SYS_gettid), SIGCANCEL);
}

/* 1: the signal interrupted a record, and comes again behind it. */
static int put_off(ucontext_t *context)
{
	struct spi_signal_frame *frame = (struct spi_signal_frame *) context;
	struct spi_thread *t = &spi_thread;
	struct spi_registers regs;
	uint64_t at, back;

	if (!spi_leave_may(t) || !(at = spi_thread_busy_at(t)) || spi_frame_load(&regs, (uint64_t) frame) < 0 ||
			!spi_record_find(&regs, at, (uint64_t) frame, &back))
		return 0;
	t->own->leave.back = back;
	t->own->leave.ra = *(uint64_t *) back;
	t->own->leave.mask = frame->mask;
	*(uint64_t *) back = (uint64_t) spi_cancel_again;
	frame->mask = SPI_LEAVE_MASK;
	return 1;
}

static void cancel_handler(int number, siginfo_t *info, void *context)
{
	if (spi_thread.busy && info->si_code == SI_TKILL && info->si_pid == (int) spi_sys(SYS_getpid) && put_off(context))
		return;
	libc_handler(number, info, context);
}

static void begin(void)
{
	struct spi_sigaction action, ours;

	if (libc_handler || !spi_may(SPI_MAY_ACT))
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	if (SPI_NEXT(pthread_cancel)(pthread_self()) != 0 || spi_signal_query(SIGCANCEL, &action) < 0 ||
			!spi_signal_has_handler(&action) || !(action.flags & SA_SIGINFO))
		return;
	libc_handler = (void (*)(int, siginfo_t *, void *)) action.handler;
	ours = action;
	ours.handler = (uint64_t) cancel_handler;
	ours.flags |= SPI_SA_RESTORER;
	ours.restorer = (uint64_t) spi_signal_return;
	spi_sys(SYS_rt_sigaction, (long) SIGCANCEL, &ours, NULL, 8L);
}

void spi_cancel_begin(void)
{
	control_tid = (int) spi_sys(SYS_gettid);
	if (is_linked)
		begin();
}

void spi_cancel_linked(void)
{
	/* libc's, not a function of the program's with that name */
	int (*trace)(void **frames, int size) = (int (*)(void **, int)) spi_find_in_libc("backtrace");
	void *none;

	if (!trace)
		return;
	trace(&none, 0);		/* no frame: glibc finds its unwinder, and that is all (debug/backtrace.c) */
	is_linked = 1;
	if (control_tid == (int) spi_sys(SYS_gettid))
		begin();
}
