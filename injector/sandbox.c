/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * May anything be done in a process that runs in a seccomp sandbox? A filter that
 * kills for system calls it does not know would kill the program for what is done
 * in it. The kernel gives a stopped thread's filters to who has CAP_SYS_ADMIN;
 * they are run here for the tracer's calls. Where they cannot be had, filters that
 * the process got from who started it are taken for a container's, which refuse and
 * do not kill; others are the program's own.
 */
#include <errno.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "injector/sandbox.h"
#include "liblttng-spi/seccomp-filter.h"

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER	0x420c
#endif
#define CODE_ADDRESS	UINT64_C(0x7f0000000000)	/* where libraries lie, roughly */

/* A line of a process's `status` as a number; -1: it has none. */
static int status_number(pid_t pid, const char *key)
{
	char *status = spi_proc_read(NULL, "%d/status", (int) pid);
	const char *value = status ? spi_status_value(status, key) : NULL;
	int number = value ? atoi(value) : -1;

	free(status);
	return number;
}

/* 1: a filter kills for one of the tracer's calls; 0: none does; -1: they cannot be had. */
static int filters_are_deadly(pid_t tid)
{
	struct sock_filter *code = malloc(BPF_MAXINSNS * sizeof(*code));
	int result = code ? 0 : -1;

	for (long i = 0; !result; i++) {
		long count = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *) i, NULL);

		if (count < 0) {
			result = errno == ENOENT && i ? 0 : -1;
			break;
		}
		count = count <= BPF_MAXINSNS ? ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *) i, code) : -1;
		if (count < 0)
			result = -1;
		else if (spi_seccomp_deadly(code, (uint32_t) count, CODE_ADDRESS))
			result = 1;
	}
	free(code);
	return result;
}

static int filters_are_inherited(const struct spi_target *t)
{
	int own = status_number(t->pid, "Seccomp_filters"), parent = status_number(t->pid, "PPid");

	return t->inner_pid == 1 || (own > 0 && parent > 0 && status_number(parent, "Seccomp_filters") >= own);
}

int spi_sandbox_check(const struct spi_target *t, pid_t tid)
{
	int mode = status_number(tid, "Seccomp"), deadly;

	if (mode <= 0)
		return 0;
	deadly = mode == 1 ? 1 : filters_are_deadly(tid);
	if (deadly < 0 && !filters_are_inherited(t))
		return spi_inject_fail(t->result, EPERM, "process %d (%s) is in a seccomp sandbox that cannot be looked into: be root "
			"(CAP_SYS_ADMIN), or have it traced from its start", (int) t->pid, t->name);
	if (deadly > 0)
		return spi_inject_fail(t->result, EPERM, "process %d (%s) is in a seccomp sandbox that kills for system calls which "
			"tracing needs: have it traced from its start, up to its entering the sandbox", (int) t->pid, t->name);
	return 0;
}
