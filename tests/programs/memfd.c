/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* memfd COMMAND...: run it with an empty memfd as descriptor 9, and print the seals that are on it afterwards. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = memfd_create("test", MFD_ALLOW_SEALING), status, seals;
	pid_t pid;

	if (fd < 0 || dup2(fd, 9) < 0)
		return 1;
	pid = fork();
	if (!pid) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0 || status)
		return 1;
	seals = fcntl(9, F_GET_SEALS);
	printf("sealed:%s%s%s%s\n", seals & F_SEAL_SEAL ? " seal" : "", seals & F_SEAL_SHRINK ? " shrink" : "",
	       seals & F_SEAL_GROW ? " grow" : "", seals & F_SEAL_WRITE ? " write" : "");
	return 0;
}
