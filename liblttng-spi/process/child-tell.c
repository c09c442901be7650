/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Children are told to those who watch (SPI_WATCH_CHILDREN). libc's handlers of fork() do not get the child's id: it is
 * the youngest that the kernel lists of the forking thread's.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/process/internal.h"

static SPI_FORK_DATA int32_t latest_child;	/* before the fork */

/* The calling thread's youngest child: the last in the kernel's list. 0: none; -1: not known (CONFIG_PROC_CHILDREN). */
static int32_t child_youngest(void)
{
	long fd = spi_sys(SYS_openat, (long) AT_FDCWD, "/proc/thread-self/children", (long) (O_RDONLY | O_CLOEXEC)), n;
	int32_t latest = 0, number = 0;
	char text[512];

	if (fd < 0)
		return -1;
	while ((n = spi_sys(SYS_read, fd, text, sizeof(text))) > 0)
		for (long i = 0; i < n; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				number = number * 10 + text[i] - '0';
				continue;
			}
			latest = number ? number : latest;
			number = 0;
		}
	spi_sys(SYS_close, fd);
	return latest;
}

/* What a payload forks, or the agent, is none of the program's. */
void spi_child_tell(int32_t child)
{
	if (spi_thread.busy || spi_thread_is_foreign(&spi_thread) || spi_is_lent() > 0)
		return;
	if (spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		spi_participants_run(child_made, child);
}

void spi_child_tell_begin(void)
{
	latest_child = child_youngest();
}

/* A child that has ended already, and that nobody waits for, is in the list no more. */
void spi_child_tell_parent(void)
{
	const int32_t child = child_youngest();

	spi_child_tell(child == latest_child || !child ? -1 : child);
}
