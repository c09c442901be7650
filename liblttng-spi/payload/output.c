/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Where payloads write text for the user. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/module/module.h"
#include "liblttng-spi/payload/internal.h"

#define NOWHERE	-2

static int output = -1;		/* -1: standard error; NOWHERE: the controller has no place for it */

/* A controller says where the user looks; standard error is the program's then. */
void spi_client_output_find(struct spi_link *link)
{
	char error[256];
	int fd;

	if (!link || output != -1)
		return;
	fd = spi_module_file(link, "payload-output", error, sizeof(error));
	__atomic_store_n(&output, fd < 0 ? NOWHERE : fd, __ATOMIC_RELEASE);
}

long spi_client_write(const char *text, size_t size)
{
	const int fd = __atomic_load_n(&output, __ATOMIC_RELAXED);
	size_t done = 0;
	long n = fd == NOWHERE ? -ENXIO : 0;

	while (fd != NOWHERE && done < size) {
		n = spi_raw3(SYS_write, (uint64_t) (fd < 0 ? STDERR_FILENO : fd), (uint64_t) text + done, size - done);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t) n;
	}
	return done || !size ? (long) done : n;
}
