/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * register SOCKET N - register N times with a real session daemon, as no program
 * does: without lttng-ust, each time another process, and gone at once.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* LTTng-UST's registration message, ABI 9; the daemon believes it. */
struct message {
	uint32_t magic, major, minor, pid, ppid, uid, gid, bits, align[5], type;
	char name[16], padding[64];
} __attribute__((packed));

int main(int argc, char **argv)
{
	struct message message = { .magic = 0xC57C57C5, .major = 9, .bits = 64, .align = { 8, 16, 32, 64, 64 },
				   .name = "register" };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int n = argc == 3 ? atoi(argv[2]) : 0, status;

	if (!n)
		return 2;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", argv[1]);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid) {
			int fd = socket(AF_UNIX, SOCK_STREAM, 0);

			message.pid = getpid();
			message.ppid = getppid();
			if (connect(fd, (struct sockaddr *) &address, sizeof(address)))
				_exit(1);
			_exit(send(fd, &message, sizeof(message), MSG_NOSIGNAL) != sizeof(message));
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
			return 1;
	}
	return 0;
}
