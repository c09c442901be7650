/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What /proc says of a thread before it is stopped: one that ends, waits in the kernel for somebody else, or is in the
 * middle of a system call that a stop would cut short, is left alone.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "injector/safe-point.h"

/* Interrupted in the middle, these report less than they were asked to do, which many programs do not expect. */
static const char *check_transfer(const char *syscall_text)
{
	static const uint16_t partial[] = {
		SYS_write, SYS_writev, SYS_pwrite64, SYS_pwritev, SYS_pwritev2, SYS_sendto, SYS_sendmsg, SYS_sendmmsg,
		SYS_sendfile, SYS_splice, SYS_vmsplice, SYS_tee, SYS_copy_file_range,
	};
	unsigned long long a[6] = { 0 };
	long number;

	if (sscanf(syscall_text, "%ld %llx %llx %llx %llx %llx %llx", &number, &a[0], &a[1], &a[2], &a[3], &a[4],
		   &a[5]) < 1)
		return NULL;	/* "running" */
	for (size_t i = 0; i < sizeof(partial) / sizeof(partial[0]); i++)
		if (partial[i] == number)
			return "blocked in writing or sending, which a stop would cut short";
	if ((number == SYS_recvfrom && a[3] & 0x100) || (number == SYS_recvmsg && a[2] & 0x100))
		return "waiting to receive a whole message, which a stop would cut short";
	return NULL;
}

int spi_safe_precheck(const struct spi_target *target, pid_t tid, const char **why)
{
	char *text = spi_proc_read(NULL, "%d/task/%d/stat", (int) target->pid, (int) tid);
	const char *state = text ? spi_stat_field(text, 3) : NULL;
	char *call = spi_proc_read(NULL, "%d/task/%d/syscall", (int) target->pid, (int) tid);

	*why = NULL;
	if (!state || *state == 'Z' || *state == 'X') {
		*why = "ending";
	} else if (*state == 'D') {
		int64_t number = call ? strtol(call, NULL, 10) : -1;

		*why = number == SYS_vfork || number == SYS_clone || number == SYS_clone3 ?
			"suspended in vfork() until its child runs another program or ends" :
			"waiting inside the kernel, uninterruptibly";
	} else if (call) {
		*why = check_transfer(call);
	}
	free(text);
	free(call);
	return *why ? -EAGAIN : 0;
}
