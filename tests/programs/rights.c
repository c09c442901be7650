/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Changes its user and keeps its capabilities, which belong to threads, and changes its groups with these; then
 * gives them up, and tries once more. Prints what came of each.
 *	rights [FILE]	when FILE is there
 */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHOW(call) do { errno = 0; int r = (call); printf("%s: %d, errno %d\n", #call, r, errno); } while (0)

__attribute__((noinline)) int work(int a)
{
	__asm__ volatile("" : "+r" (a));
	return a;
}

static int capabilities(int all)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		return -1;
	for (int i = 0; i < 2; i++) {
		data[i].effective = all ? data[i].permitted : 0;
		if (!all)
			data[i].permitted = 0;
	}
	return (int) syscall(SYS_capset, &head, data);
}

int main(int argc, char **argv)
{
	gid_t groups[] = { 5, 6 };

	work(1);
	while (argc > 1 && access(argv[1], F_OK))
		usleep(1000);
	setvbuf(stdout, NULL, _IOLBF, 0);
	SHOW(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0));
	SHOW(setresgid(1, 1, 1));
	SHOW(setresuid(1, 1, 1));
	SHOW(capabilities(1));
	SHOW(setgroups(2, groups));
	SHOW(initgroups("daemon", 1));
	SHOW(setgid(7));
	SHOW(capabilities(0));
	SHOW(setgroups(0, NULL));
	SHOW(setuid(0));
	printf("%d %d %d %d\n", (int) getuid(), (int) geteuid(), (int) getgid(), (int) getegid());
	work(2);
	return 0;
}
