/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What /proc tells of a thread before it is stopped. A thread is left alone when it ends, is
 * frozen, waits in the kernel for another process, or is in the middle of a system call that a stop
 * would cut short.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "injector/inject/safe-point.h"

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

/*
 * In a version 2 control group (cgroup.freeze) a frozen thread sleeps (S) where the kernel delivers signals; it can be stopped
 * there, but runs nothing. In a version 1 one (freezer.state) it sleeps in D, in the kernel's refrigerator or where it
 * slept before. The kernel says where a thread sleeps if it has its symbols.
 */
bool spi_thread_is_frozen(pid_t pid, pid_t tid)
{
	static const char *const places[] = { "do_freezer_trap", "get_signal", "__refrigerator" };
	char *place = spi_proc_read(NULL, "%d/task/%d/wchan", (int) pid, (int) tid);
	bool frozen = false;

	for (size_t i = 0; place && i < sizeof(places) / sizeof(places[0]); i++)
		frozen |= !strcmp(place, places[i]);
	free(place);
	return frozen;
}

int spi_safe_precheck(const struct spi_target *target, pid_t tid, const char **why)
{
	char *text = spi_proc_read(NULL, "%d/task/%d/stat", (int) target->pid, (int) tid);
	const char *state = text ? spi_stat_field(text, 3) : NULL;
	char *call = spi_proc_read(NULL, "%d/task/%d/syscall", (int) target->pid, (int) tid);

	*why = NULL;
	if (!state || *state == 'Z' || *state == 'X') {
		*why = "ending";
	} else if ((*state == 'S' || *state == 'D') && spi_thread_is_frozen(target->pid, tid)) {
		*why = "frozen with its control group, which is to be thawed first";
	} else if (*state == 'D') {
		int64_t number = call ? strtol(call, NULL, 10) : -1;

		*why = number == SYS_vfork || number == SYS_clone || number == SYS_clone3 ?
			"suspended in vfork() until its child runs another program or ends" :
			"waiting inside the kernel, uninterruptibly (for a disk or network, or frozen with its control group)";
	} else if (call) {
		*why = check_transfer(call);
	}
	free(text);
	free(call);
	return *why ? -EAGAIN : 0;
}
