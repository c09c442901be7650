/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Complete writes: write() may write a part, or be interrupted by a signal. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "codemap/base/base.h"

int write_whole(int fd, const void *data, uint64_t size)
{
	const char *p = data;

	while (size) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : ENOSPC;
		p += n;
		size -= (uint64_t) n;
	}
	return 0;
}

void write_or_fail(int fd, const void *data, uint64_t size, const char *where)
{
	int error = write_whole(fd, data, size);

	if (error)
		fail("cannot write to %s: %s", where, strerror(error));
}
