/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Signal masks of a preloaded program: before libc's functions that set, ask for
 * or wait with one. As soon as there is an int3 (spi_mask_virtual), SIGTRAP is
 * left out of what the kernel gets, and SIGSTKFLT says that it is meant; patch/trap.c
 * says why. On the way back both are there. So a program that looks closely sees
 * that SIGSTKFLT is blocked whenever SIGTRAP is, and the other way round; that
 * programs which it executes inherit SIGSTKFLT blocked, and SIGTRAP not; and that
 * a signalfd gets no SIGTRAP. Not followed: masks that were put into a thread's
 * attributes before there was int3, and those edited in a saved context.
 *
 * Nothing here keeps a state: it works in signal handlers and vforked children.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/dispositions/internal.h"

/* What programs built with _FORTIFY_SOURCE call. */
SPI_EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *set,
	size_t size);

SPI_HOOK_DECLARE(sigprocmask)
SPI_HOOK_DECLARE(pthread_sigmask)
SPI_HOOK_DECLARE(pthread_attr_setsigmask_np)
SPI_HOOK_DECLARE(pthread_attr_getsigmask_np)
SPI_HOOK_DECLARE(sigsuspend)
SPI_HOOK_DECLARE(sigpending)
SPI_HOOK_DECLARE(sigwait)
SPI_HOOK_DECLARE(sigtimedwait)
SPI_HOOK_DECLARE(pselect)
SPI_HOOK_DECLARE(ppoll)
SPI_HOOK_DECLARE(__ppoll_chk)
SPI_HOOK_DECLARE(epoll_pwait)
SPI_HOOK_DECLARE(epoll_pwait2)

/* The set for the kernel: `set` itself, or *copy when it has to be another one. */
static const sigset_t *set_to_kernel(const sigset_t *set, sigset_t *copy)
{
	uint64_t mask;

	if (!set || !(is_virtual() || spi_mask_open))
		return set;
	mask = mask_of(set);
	if (spi_mask_to_kernel(mask) == mask)
		return set;
	spi_bytes_set(copy, 0, sizeof(*copy));
	mask_put(copy, spi_mask_to_kernel(mask));
	return copy;
}

/* A set that stands for "any of these": to be unblocked, or waited for. */
static const sigset_t *set_of_both(const sigset_t *set, sigset_t *copy)
{
	if (!set || !is_virtual() || !(mask_of(set) & SPI_MASK_PAIR))
		return set;
	spi_bytes_set(copy, 0, sizeof(*copy));
	mask_put(copy, mask_of(set) | SPI_MASK_PAIR);
	return copy;
}

static int mask_change(int (*change)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set, sigset_t *old)
{
	int was_virtual = is_virtual(), ret;
	uint64_t wanted = set ? mask_of(set) : 0;	/* `old` may be the same memory */
	sigset_t copy;

	ret = change(how, how == SIG_UNBLOCK ? set_of_both(set, &copy) : set_to_kernel(set, &copy), old);
	if (ret)
		return ret;
	if (!was_virtual && is_virtual())
		spi_mask_make_virtual();
	if (wanted & (SPI_SIGNAL_BIT(SIGSEGV) | SPI_SIGNAL_BIT(SIGBUS)))
		spi_pages_forget();
	set_to_program(old);
	return 0;
}

SPI_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return mask_change(SPI_NEXT(sigprocmask), how, set, old);
}

SPI_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return mask_change(SPI_NEXT(pthread_sigmask), how, set, old);
}

/* The mask that a thread begins with. */

SPI_EXPORT int pthread_attr_setsigmask_np(pthread_attr_t *attr, const sigset_t *set)
{
	sigset_t copy;

	if (!SPI_NEXT(pthread_attr_setsigmask_np))
		return ENOSYS;
	return next_pthread_attr_setsigmask_np(attr, set_to_kernel(set, &copy));
}

SPI_EXPORT int pthread_attr_getsigmask_np(const pthread_attr_t *attr, sigset_t *set)
{
	int ret;

	if (!SPI_NEXT(pthread_attr_getsigmask_np))
		return ENOSYS;
	ret = next_pthread_attr_getsigmask_np(attr, set);
	if (!ret)
		set_to_program(set);
	return ret;
}

/* BSD's and System V's ways of saying it. */

static int bsd_mask_change(int how, int mask)
{
	sigset_t set, old;

	sigemptyset(&set);
	mask_put(&set, (uint32_t) mask);
	return sigprocmask(how, &set, &old) < 0 ? -1 : (int) mask_of(&old);
}

SPI_EXPORT int sigblock(int mask)
{
	return bsd_mask_change(SIG_BLOCK, mask);
}

SPI_EXPORT int sigsetmask(int mask)
{
	return bsd_mask_change(SIG_SETMASK, mask);
}

static int one_change(int how, int number)
{
	sigset_t set;

	sigemptyset(&set);
	return sigaddset(&set, number) < 0 ? -1 : sigprocmask(how, &set, NULL);
}

SPI_EXPORT int sighold(int number)
{
	return one_change(SIG_BLOCK, number);
}

SPI_EXPORT int sigrelse(int number)
{
	return one_change(SIG_UNBLOCK, number);
}

/* Calls that wait with another mask, under which handlers run. */

SPI_EXPORT int sigsuspend(const sigset_t *set)
{
	sigset_t copy;

	return SPI_NEXT(sigsuspend)(set_to_kernel(set, &copy));
}

/* BSD's takes a mask, the other one the signal that is to come. libc's go past sigsuspend()'s symbol. */
SPI_EXPORT int bsd_sigpause(int mask) SPI_SYMBOL("sigpause");
int bsd_sigpause(int mask)
{
	sigset_t set;

	sigemptyset(&set);
	mask_put(&set, (uint32_t) mask);
	return sigsuspend(&set);
}

SPI_EXPORT int xpg_sigpause(int number) SPI_SYMBOL("__xpg_sigpause");
int xpg_sigpause(int number)
{
	sigset_t set;

	if (sigprocmask(SIG_BLOCK, NULL, &set) < 0 || sigdelset(&set, number) < 0)
		return -1;
	if (is_virtual() && number > 0 && number < SPI_SIGNALS && (SPI_SIGNAL_BIT(number) & SPI_MASK_PAIR))
		mask_put(&set, mask_of(&set) & ~SPI_MASK_PAIR);
	return sigsuspend(&set);
}

SPI_EXPORT int pselect(int n, fd_set *in, fd_set *out, fd_set *other, const struct timespec *timeout,
	const sigset_t *set)
{
	sigset_t copy;

	return SPI_NEXT(pselect)(n, in, out, other, timeout, set_to_kernel(set, &copy));
}

SPI_EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *set)
{
	sigset_t copy;

	return SPI_NEXT(ppoll)(fds, n, timeout, set_to_kernel(set, &copy));
}

int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *set,
	size_t size)
{
	sigset_t copy;

	return SPI_NEXT(__ppoll_chk)(fds, n, timeout, set_to_kernel(set, &copy), size);
}

SPI_EXPORT int epoll_pwait(int epfd, struct epoll_event *events, int n, int timeout, const sigset_t *set)
{
	sigset_t copy;

	return SPI_NEXT(epoll_pwait)(epfd, events, n, timeout, set_to_kernel(set, &copy));
}

SPI_EXPORT int epoll_pwait2(int epfd, struct epoll_event *events, int n, const struct timespec *timeout,
	const sigset_t *set)
{
	sigset_t copy;

	if (!SPI_NEXT(epoll_pwait2)) {
		errno = ENOSYS;
		return -1;
	}
	return next_epoll_pwait2(epfd, events, n, timeout, set_to_kernel(set, &copy));
}

/* Signals that wait: a deferred SIGTRAP is one of them. */

SPI_EXPORT int sigpending(sigset_t *set)
{
	int ret = SPI_NEXT(sigpending)(set);

	if (!ret && is_virtual() && (mask_of(set) & SPI_SIGNAL_BIT(SIGSTKFLT)))
		mask_put(set, (mask_of(set) & ~SPI_SIGNAL_BIT(SIGSTKFLT)) | SPI_SIGNAL_BIT(SIGTRAP));
	return ret;
}

SPI_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	siginfo_t own;
	sigset_t copy;
	int number;

	if (!is_virtual())
		return SPI_NEXT(sigtimedwait)(set, info, timeout);
	number = SPI_NEXT(sigtimedwait)(set_of_both(set, &copy), &own, timeout);
	if (number > 0) {
		number = spi_signal_undefer(number, &own);
		if (info)
			*info = own;
	}
	return number;
}

SPI_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return sigtimedwait(set, info, NULL);
}

SPI_EXPORT int sigwait(const sigset_t *set, int *number)
{
	int error_was = errno, ret;

	if (!is_virtual())
		return SPI_NEXT(sigwait)(set, number);
	do
		ret = sigtimedwait(set, NULL, NULL);
	while (ret < 0 && errno == EINTR);
	if (ret < 0) {
		ret = errno;
	} else {
		*number = ret;
		ret = 0;
	}
	errno = error_was;
	return ret;
}

extern __typeof__(xpg_sigpause) own_xpg_sigpause __attribute__((alias("__xpg_sigpause"), visibility("hidden")));

/*
 * An injected agent stands at the entries of what blocks signals, or takes them away; and, where it can, of what only
 * waits for some, or asks. The others call these, within libc as well. (sigwaitinfo() jumps to sigtimedwait().)
 */
#define ORDER	.ways = SPI_HOOK_ORDER
#define ENTRY	.ways = SPI_HOOK_ORDER | SPI_HOOK_ENTRY, .set = SPI_HOOKS_SIGNALS
#define VITAL	ENTRY, .flags = SPI_HOOK_VITAL, .lost = "there is no int3"
const struct spi_hook spi_mask_hooks[] = {
	{ SPI_HOOK_ROW(sigprocmask), ORDER },
	{ SPI_HOOK_ROW(pthread_sigmask), VITAL },
	{ SPI_HOOK_ROW(pthread_attr_setsigmask_np), VITAL },
	{ SPI_HOOK_ROW(pthread_attr_getsigmask_np), ENTRY },
	{ "sigblock", ORDER },
	{ "sigsetmask", ORDER },
	{ "sighold", ORDER },
	{ "sigrelse", ORDER },
	{ SPI_HOOK_ROW(sigsuspend), VITAL },
	{ "sigpause", ORDER },
	{ "__xpg_sigpause", (void *) own_xpg_sigpause, ENTRY },
	{ SPI_HOOK_ROW(sigpending), ENTRY },
	{ SPI_HOOK_ROW(sigwait), ENTRY },
	{ "sigwaitinfo", ORDER },
	{ SPI_HOOK_ROW(sigtimedwait), ENTRY },
	{ SPI_HOOK_ROW(pselect), VITAL },
	{ SPI_HOOK_ROW(ppoll), VITAL },
	{ SPI_HOOK_ROW(__ppoll_chk), ORDER },
	{ SPI_HOOK_ROW(epoll_pwait), VITAL },
	{ SPI_HOOK_ROW(epoll_pwait2), VITAL },
	{ NULL },
};
