/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Programs that exchange messages of 16 bytes by a file:
 *
 *	file-messages write FILE N [OTHER]	append N messages, and wait until there is a file OTHER
 *	file-messages write-at FILE N		write them at their places, by pwrite() and its like in turn
 *	file-messages read FILE N		print each message as it comes, and "ready" before the first
 *	file-messages read-at FILE N		likewise, by pread() and its like
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define SIZE	16

static char message[SIZE];

__attribute__((noipa)) static void compose(int i)
{
	memset(message, 0, SIZE);
	snprintf(message, SIZE, "message %d", i);
}

__attribute__((noipa)) static ssize_t put(int fd, int i, off_t at)
{
	struct iovec parts[] = { { message, 7 }, { message + 7, SIZE - 7 } };

	if (at < 0)
		return write(fd, message, SIZE);
	return i % 3 == 0 ? pwrite(fd, message, SIZE, at) : i % 3 == 1 ? pwritev(fd, parts, 2, at) : pwritev2(fd, parts, 2, at, 0);
}

__attribute__((noipa)) static ssize_t get(int fd, int i, off_t at)
{
	struct iovec parts[] = { { message, 7 }, { message + 7, SIZE - 7 } };

	if (at < 0)
		return read(fd, message, SIZE);
	return i % 3 == 0 ? pread(fd, message, SIZE, at) : i % 3 == 1 ? preadv(fd, parts, 2, at) : preadv2(fd, parts, 2, at, 0);
}

__attribute__((noipa)) static void handle(int i)
{
	printf("%d %s\n", i, message);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const int is_write = argc > 3 && !strncmp(argv[1], "write", 5), is_at = argc > 3 && strstr(argv[1], "-at");
	const int n = argc > 3 ? atoi(argv[3]) : 0;
	const int fd = n ? open(argv[2], is_write ? is_at ? O_WRONLY | O_CREAT : O_WRONLY | O_CREAT | O_APPEND : O_RDONLY, 0666) : -1;

	if (fd < 0)
		return 2;
	if (!is_write) {
		puts("ready");
		fflush(stdout);
	}
	for (int i = 0; i < n; i++) {
		const off_t at = is_at ? (off_t) i * SIZE : -1;

		if (is_write) {
			compose(i);
			if (put(fd, i, at) != SIZE)
				return 1;
			continue;
		}
		while (get(fd, i, at) != SIZE)
			usleep(2000);
		handle(i);
	}
	while (argc > 4 && access(argv[4], F_OK))
		usleep(2000);
	return close(fd) != 0;
}
