/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Closes descriptors in each of libc's ways. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	int last = 0;

	for (int i = 0; i < 20; i++) {
		int fd = open("/dev/null", O_RDONLY);

		last = fd >= 0 ? close(fd) : -1;
	}
	last |= close_range(500, 600, 0);
	closefrom(300);
	printf("%d %d\n", last, close(77));
	fflush(stdout);
	_exit(0);
}
