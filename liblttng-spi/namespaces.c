/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Programs that change their namespaces: the kernel lets nobody into a user
 * namespace who has threads, nor into a mount namespace who shares his working directory with
 * others. A program with one thread counts on that, and has the tracer's beside it.
 *
 * A directory of its own can be had: then the call is made again. A user namespace
 * cannot, as lttng-ust's threads do not end; the call has failed as it would in a program with
 * threads, and that is named, so that its user knows why.
 *
 * Called from the entries of libc's functions (exec-watch.c).
 */
#include <errno.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include "liblttng-spi/clones.h"
#include "liblttng-spi/exec.h"
#include "liblttng-spi/sandbox.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME	0x00000080
#endif
#define NS_GET_NSTYPE	0xb703		/* linux/nsfs.h: _IO(0xb7, 3) */
#define ALONE		(CLONE_NEWUSER | CLONE_NEWTIME)		/* for who has one thread only */

int (*spi_namespaces_next_unshare)(int flags);
int (*spi_namespaces_next_setns)(int fd, int type);

/* Has it failed for the tracer's threads alone? Looking takes a tenth of a second when it has not. */
static int is_ours(void)
{
	return !spi_thread.busy && !spi_sandbox_narrow && spi_process_is_mine() && spi_last_thread_is_one();
}

static void name_it(const char *call)
{
	spi_exec_fault(call, "it failed because of the tracer's threads: the kernel refuses that to processes with several");
	spi_exec_tell();
}

int spi_namespaces_unshare(int flags)
{
	int ret = spi_namespaces_next_unshare(flags), error = errno;

	if (ret < 0 && error == EINVAL && (flags & (CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM)) && is_ours())
		name_it(flags & CLONE_NEWUSER ? "unshare(CLONE_NEWUSER)" : "unshare()");
	errno = error;
	return ret;
}

int spi_namespaces_setns(int fd, int type)
{
	int ret = spi_namespaces_next_setns(fd, type), error = errno;
	long kind;

	if (spi_likely(ret == 0) || (error != EINVAL && error != EUSERS))
		goto out;
	if (spi_sandboxed || spi_sandbox_narrow)	/* asking alone could be its end */
		goto out;
	kind = spi_sys(SYS_ioctl, (long) fd, (long) NS_GET_NSTYPE);
	if (kind < 0)
		kind = type;		/* a process's: whichever of its namespaces are wanted */
	if (!(kind & (ALONE | CLONE_NEWNS)) || !is_ours())
		goto out;
	if ((kind & CLONE_NEWNS) && spi_sys(SYS_unshare, (long) CLONE_FS) == 0) {
		ret = spi_namespaces_next_setns(fd, type);
		if (ret == 0)
			return ret;
	}
	if (kind & ALONE)
		name_it(kind & CLONE_NEWUSER ? "setns() into a user namespace" : "setns() into a time namespace");
out:
	errno = error;
	return ret;
}
