/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Threads that were asked to stop, and were no longer needed when they stopped: those asleep in the
 * kernel (D), as a parent in vfork() is. They are let go as soon as they stand still. So code that
 * waits for another thread's stop (stop.c), or that is between two looks (inject.c), looks after
 * them. Each injector thread has a list of its own, as only a tracer may wait for its tracees. The
 * kernel lets go what is left when the injector thread ends.
 */
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "injector/inject/remote-internal.h"

#define LATE_MAX	16u

static _Thread_local pid_t late[LATE_MAX];

void spi_late_add(pid_t tid)
{
	for (unsigned int i = 0; i < LATE_MAX; i++)
		if (!late[i]) {
			late[i] = tid;
			return;
		}
}

bool spi_late_has(pid_t tid)
{
	for (unsigned int i = 0; i < LATE_MAX; i++)
		if (late[i] == tid)
			return true;
	return false;
}

void spi_late_look(void)
{
	for (unsigned int i = 0; i < LATE_MAX; i++) {
		int status;
		pid_t got = late[i] ? waitpid(late[i], &status, __WALL | WNOHANG) : 0;

		if (!got || (got < 0 && errno == EINTR))
			continue;
		/* killed where it stood: its end is to be waited for, too */
		if (got > 0 && WIFSTOPPED(status) &&
				ptrace(PTRACE_DETACH, got, NULL, (void *) (long) (status >> 16 ? 0 : WSTOPSIG(status))) && errno == ESRCH)
			continue;
		late[i] = 0;
	}
}
