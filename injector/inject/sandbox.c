/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * May an injection be made in a process that runs in a seccomp sandbox? A filter that kills for
 * system calls it does not know would kill the program for calls of the injection. The kernel gives
 * a stopped thread's filters to a tracer with CAP_SYS_ADMIN; they are run here for the system calls
 * that an injection makes. A container's filters refuse and do not kill. A filter that cannot be
 * read counts as one that kills.
 *
 * An injector that is about to become the target's user keeps a copy of the filters of each thread
 * first, with the number of filters that the thread had: filters are only ever added.
 */
#include <errno.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "injector/inject/priority.h"
#include "injector/inject/remote.h"
#include "injector/inject/safe-point.h"
#include "injector/inject/sandbox.h"
#include "liblttng-spi/process/seccomp-filter.h"

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER	0x420c
#endif
#define CODE_ADDRESS	UINT64_C(0x7f0000000000)	/* where libraries lie, roughly */

#define KEPT_THREADS	16u
#define KEEP_NS		UINT64_C(50000000)	/* for a thread to stop */

/* All filters of a thread, one after the other. */
struct filters {
	pid_t tid;
	struct sock_filter *code;	/* NULL: they cannot be had */
	uint32_t *lengths;		/* instructions of each */
	size_t count, size;
};

static struct filters kept[KEPT_THREADS];
static size_t kept_count;

static bool is_filtered(pid_t tid)
{
	char *status = spi_proc_read(NULL, "%d/status", (int) tid);
	const char *mode = status ? spi_status_value(status, "Seccomp") : NULL;
	bool result = mode && *mode != '0';

	free(status);
	return result;
}

static void filters_free(struct filters *f)
{
	free(f->code);
	free(f->lengths);
	memset(f, 0, sizeof(*f));
}

static int filters_add(struct filters *f, uint32_t length)
{
	struct sock_filter *code = reallocarray(f->code, f->size + length, sizeof(*code));
	uint32_t *lengths = reallocarray(f->lengths, f->count + 1, sizeof(*lengths));

	f->code = code ? code : f->code;
	f->lengths = lengths ? lengths : f->lengths;
	if (!code || !lengths || ptrace(PTRACE_SECCOMP_GET_FILTER, f->tid, (void *) f->count, code + f->size) != (long) length)
		return -1;
	lengths[f->count++] = length;
	f->size += length;
	return 0;
}

/* Of a thread that is stopped by the caller. */
static void filters_read(struct filters *f, pid_t tid)
{
	long length;

	*f = (struct filters) { .tid = tid };
	while ((length = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *) f->count, NULL)) > 0 && length <= BPF_MAXINSNS)
		if (filters_add(f, (uint32_t) length))
			break;
	if (length >= 0 || errno != ENOENT)
		filters_free(f);
}

/* Does one of them kill for one of the tracer's calls? */
static bool filters_are_deadly(const struct filters *f)
{
	const struct sock_filter *code = f->code;
	bool deadly = false;

	for (size_t i = 0; i < f->count; code += f->lengths[i++])
		deadly |= spi_seccomp_deadly(code, f->lengths[i], CODE_ADDRESS, SPI_SECCOMP_LOAD);
	return deadly;
}

static void keep_thread(const struct spi_target *target, pid_t tid)
{
	struct spi_gadgets none = { 0 };
	struct spi_remote remote;
	struct spi_first first;
	const char *why;

	if (kept_count == KEPT_THREADS || spi_safe_precheck(target, tid, &why))
		return;
	spi_first_open(&first, -1, false);
	if (!spi_remote_stop(&remote, target, &none, &first, tid, spi_now() + KEEP_NS)) {
		filters_read(&kept[kept_count++], tid);
		spi_remote_release(&remote);
	}
	spi_first_close(&first);
}

void spi_sandbox_keep(pid_t pid, const struct spi_inject_options *options)
{
	struct spi_inject_result result = { .size = sizeof(result), .fd = -1 };
	pid_t tids[KEPT_THREADS];
	struct spi_target target;

	if (!spi_target_open(&target, pid, options, &result) && is_filtered(pid)) {
		size_t n = spi_target_threads(pid, tids, KEPT_THREADS);

		for (size_t i = 0; i < n; i++)
			keep_thread(&target, tids[i]);
	}
	spi_target_close(&target);
}

static const struct filters *filters_kept(pid_t tid)
{
	char *status = spi_proc_read(NULL, "%d/status", (int) tid);
	const char *value = status ? spi_status_value(status, "Seccomp_filters") : NULL;
	size_t count = value ? strtoul(value, NULL, 10) : 0;

	free(status);
	for (size_t i = 0; i < kept_count; i++)
		if (kept[i].tid == tid && kept[i].code && kept[i].count == count)
			return &kept[i];
	return NULL;
}

int spi_sandbox_check(const struct spi_target *t, pid_t tid)
{
	const struct filters *known;
	struct filters own = { 0 };
	bool is_known, is_deadly;

	if (!is_filtered(tid))
		return 0;
	known = filters_kept(tid);
	if (!known) {
		filters_read(&own, tid);
		known = &own;
	}
	is_known = known->code;
	is_deadly = filters_are_deadly(known);
	filters_free(&own);
	if (is_known && !is_deadly)
		return 0;
	return spi_inject_fail(t->result, ENOTSUP, "process %d (%s) runs under seccomp, %s: start it under the tracer instead%s",
		(int) t->pid, t->name, is_deadly ? "whose filter kills for system calls that tracing needs" :
		"which may kill it for the system calls that loading a library makes",
		is_deadly ? "" : ", or be root (CAP_SYS_ADMIN) to look into its filter");
}
