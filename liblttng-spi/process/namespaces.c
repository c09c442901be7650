/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Programs that change their namespaces: the kernel lets nobody into a user
 * namespace who has threads, nor into a mount namespace who shares his working directory with
 * others. A program with one thread counts on that, and has the tracer's beside it.
 *
 * A directory of its own can be had: then the call is made again. For a user namespace the tracer's
 * threads end before, and there are new ones after (single.c). Where that cannot be, the call has failed as it would in a
 * program with threads, and that is named, so that its user knows why.
 *
 * Called from the entries of libc's functions, or by the objects of an attached program (base/hook.h).
 */
#include <errno.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/process/internal.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME	0x00000080
#endif
#define NS_GET_NSTYPE	0xb703		/* linux/nsfs.h: _IO(0xb7, 3) */
#define ALONE		(CLONE_NEWUSER | CLONE_NEWTIME)		/* for who has one thread only */

static __typeof__(&unshare) next_unshare;
static __typeof__(&setns) next_setns;

/* Has it failed for the tracer's threads alone? Looking takes a tenth of a second when that cannot be told. */
static int is_ours(void)
{
	return !spi_thread.busy && spi_may(SPI_MAY_TALK | SPI_MAY_HERE) && spi_last_thread_is_one();
}

static void name_it(const char *call)
{
	spi_exec_fault(call, "it failed because of the tracer's threads: the kernel refuses that to processes with several");
	spi_exec_tell();
}

/* One of the two, once more. */
struct again {
	int fd, flags;		/* fd -1: unshare() */
	int error;		/* of errno */
};

static int call_again(void *data)
{
	struct again *a = data;
	int ret = a->fd < 0 ? SPI_NEXT(unshare)(a->flags) : SPI_NEXT(setns)(a->fd, a->flags);

	a->error = errno;
	return ret;
}

/* The call with no thread but the caller, and errno, which was that before the first try. */
static int single(int fd, int flags, int before, const char *name)
{
	struct again again = { fd, flags, EINVAL };
	int ret = -1;

	if (spi_single_call(call_again, &again, &ret) < 0)
		name_it(name);
	errno = ret < 0 ? again.error : before;
	return ret;
}

static int own_unshare(int flags)
{
	int before = errno, ret = SPI_NEXT(unshare)(flags), error = errno;

	if (spi_likely(ret == 0 || error != EINVAL))
		goto out;
	if ((flags & (CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM)) && is_ours())
		return single(-1, flags, before, flags & CLONE_NEWUSER ? "unshare(CLONE_NEWUSER)" : "unshare()");
out:
	errno = error;
	return ret;
}

static int own_setns(int fd, int type)
{
	int before = errno, ret = SPI_NEXT(setns)(fd, type), error = errno;
	long kind;

	if (spi_likely(ret == 0) || (error != EINVAL && error != EUSERS))
		goto out;
	if (!spi_may(SPI_MAY_TALK))	/* asking alone could be its end */
		goto out;
	kind = spi_sys(SYS_ioctl, (long) fd, (long) NS_GET_NSTYPE);
	if (kind < 0)
		kind = type;		/* a process's: whichever of its namespaces are wanted */
	if (!(kind & (ALONE | CLONE_NEWNS)) || !is_ours())
		goto out;
	if ((kind & CLONE_NEWNS) && spi_sys(SYS_unshare, (long) CLONE_FS) == 0) {
		ret = SPI_NEXT(setns)(fd, type);
		if (ret == 0) {
			errno = before;
			return ret;
		}
	}
	if (kind & ALONE)
		return single(fd, type, before, kind & CLONE_NEWUSER ? "setns() into a user namespace" : "setns() into a time namespace");
out:
	errno = error;
	return ret;
}

#define WAYS \
	.ways = SPI_HOOK_POINTERS | SPI_HOOK_ENTRY, .set = SPI_HOOKS_PROGRAMS, .lost = "user namespaces are refused"
const struct spi_hook spi_namespace_hooks[] = {
	{ SPI_HOOK_ROW(unshare), WAYS },
	{ SPI_HOOK_ROW(setns), WAYS },
	{ NULL },
};
