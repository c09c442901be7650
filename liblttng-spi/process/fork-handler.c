/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * fork() by a signal handler that has interrupted malloc().
 *
 * libc's fork() takes malloc()'s locks where the process has more than one thread, and waits for ever for the one that the
 * interrupted malloc() has. A program of one thread may do that: what is called when it crashes in malloc() forks a
 * debugger. Traced, it has the tracer's threads as well. So the agent stands before fork(), and such a one is made of
 * _Fork(), which takes nothing (glibc 2.34), and of libc's list of handlers (fork-order.c). The agent's own
 * handler does nothing, nor does lttng-ust: who has their locks may be waiting for malloc(). Nothing is recorded in the child, as
 * in one that _Fork() has made (clones.c), and its parent tells of it.
 */
#include <unistd.h>
#include "liblttng-spi/process/clones.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/calls/internal.h"

SPI_HOOK_DECLARE(fork)
static __thread int alone __attribute__((tls_model("initial-exec")));

int spi_fork_is_alone(void)
{
	return alone;
}

static pid_t fork_alone(void)
{
	uint32_t busy = SPI_BUSY_ALWAYS & ~spi_thread.busy;
	pid_t pid;

	spi_thread.busy |= SPI_BUSY_ALWAYS;
	alone = 1;
	spi_fork_handlers_run(SPI_FORK_PREPARE);
	pid = spi_clones_next_fork();
	if (!pid)
		spi_clones_copy_begins();
	spi_fork_handlers_run(pid ? SPI_FORK_PARENT : SPI_FORK_CHILD);
	alone = 0;
	if (!pid)
		return 0;
	spi_thread.busy &= ~busy;
	if (pid > 0 && spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		spi_exec_note("a child", "it was made by a signal handler within malloc()");
	return pid;
}

SPI_EXPORT pid_t fork(void)
{
	if (!spi_clones_next_fork || !spi_fork_handlers_known() || !spi_is_in_malloc(__builtin_frame_address(0)))
		return SPI_NEXT(fork)();
	return fork_alone();
}

const struct spi_hook spi_fork_hooks[] = {
	{ SPI_HOOK_ROW(fork), .ways = SPI_HOOK_ORDER | SPI_HOOK_POINTERS },
	{ NULL },
};
