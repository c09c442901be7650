/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * May anything be done in a process that runs in a seccomp sandbox? A filter that
 * kills for system calls it does not know would kill the program for what is done
 * in it. The kernel gives a stopped thread's filters to who has CAP_SYS_ADMIN;
 * they are run here for the tracer's calls. A container's filters refuse and do not
 * kill; what cannot be looked into is taken for one that kills.
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
		else if (spi_seccomp_deadly(code, (uint32_t) count, CODE_ADDRESS, SPI_SECCOMP_LOAD))
			result = 1;
	}
	free(code);
	return result;
}

int spi_sandbox_check(const struct spi_target *t, pid_t tid)
{
	char *status = spi_proc_read(NULL, "%d/status", (int) tid);
	const char *mode = status ? spi_status_value(status, "Seccomp") : NULL;
	int is_filtered = mode && *mode != '0', deadly = 0;

	free(status);
	if (is_filtered)
		deadly = filters_are_deadly(tid);
	if (!deadly)
		return 0;
	return spi_inject_fail(t->result, ENOTSUP, "process %d (%s) runs under seccomp, %s: start it under the tracer instead%s",
		(int) t->pid, t->name, deadly > 0 ? "whose filter kills for system calls that tracing needs" :
		"which may kill it for the system calls that loading a library makes",
		deadly > 0 ? "" : ", or be root (CAP_SYS_ADMIN), who can look into its filter");
}
