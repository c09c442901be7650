/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * lttng-ust takes the name under which the process registers, and those of its threads, from the thread that loads it,
 * and from the one that begins it in a forked child. On a thread of the agent's that would be the agent's.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/process/process.h"

int spi_proc_name(char name[16])
{
	char text[17];		/* a newline ends it */

	if (spi_proc_text("/proc/self/comm", text, sizeof(text)) < 0)
		return -1;
	spi_format(name, 16, "%s", text);
	name[strcspn(name, "\n")] = 0;
	return 0;
}

void spi_name_borrow(char own[16])
{
	char name[16];

	own[0] = 0;
	if (spi_sys(SYS_prctl, (long) PR_GET_NAME, own) < 0 || strcmp(own, "lttng-spi")) {
		own[0] = 0;
		return;
	}
	if (spi_proc_name(name) < 0)
		return;
	spi_sys(SYS_prctl, (long) PR_SET_NAME, name);
}

void spi_name_give_back(const char own[16])
{
	if (own[0])
		spi_sys(SYS_prctl, (long) PR_SET_NAME, own);
}
