/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Where payloads write text for the user. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/module/module.h"
#include "liblttng-spi/payload/internal.h"

#define NOWHERE	-2

/* spi_output_fd: -1: standard error; NOWHERE: the controller has no place for it, or has gone:
 * standard error is the program's. The program does not close it. */

/* The controller goes, and what it has given with it. */
void spi_client_output_drop(void)
{
	int fd = spi_output_fd == -1 ? -1 : __atomic_exchange_n(&spi_output_fd, NOWHERE, __ATOMIC_ACQ_REL);

	if (fd >= 0)
		spi_sys(SYS_close, fd);
}

/* A controller says where the user looks; standard error is the program's then. */
void spi_client_output_find(struct spi_link *link)
{
	char error[256];
	int fd;

	if (!link || spi_output_fd >= 0)
		return;
	fd = spi_module_file(link, "payload-output", error, sizeof(error));
	__atomic_store_n(&spi_output_fd, fd < 0 ? NOWHERE : fd, __ATOMIC_RELEASE);
}

#define PIPE_BIT	SPI_SIGNAL_BIT(SIGPIPE)

/* One write() to a pipe that nobody reads: the signal would be the program's end. */
static long write_once(int fd, const char *text, size_t size)
{
	const struct { int64_t s, ns; } none = { 0, 0 };
	const uint64_t pipe = PIPE_BIT;
	uint64_t before, pending = 0;
	long n;

	spi_raw4(SYS_rt_sigprocmask, SIG_BLOCK, (uint64_t) &pipe, (uint64_t) &before, 8);
	spi_raw4(SYS_rt_sigpending, (uint64_t) &pending, 8, 0, 0);
	n = spi_raw3(SYS_write, (uint64_t) fd, (uint64_t) text, size);
	if (n == -EPIPE && !(pending & PIPE_BIT))
		spi_raw4(SYS_rt_sigtimedwait, (uint64_t) &pipe, 0, (uint64_t) &none, 8);
	spi_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t) &before, 0, 8);
	return n;
}

/* For the user, who looks where payloads write if there is no controller. */
void spi_client_say(const char *line)
{
	spi_note("%s", line);
	if (spi_link_current)
		return;
	spi_client_write(line, strlen(line));
	spi_client_write("\n", 1);
}

long spi_client_write(const char *text, size_t size)
{
	const int fd = __atomic_load_n(&spi_output_fd, __ATOMIC_RELAXED);
	size_t done = 0;
	long n = fd == NOWHERE ? -ENXIO : 0;

	while (fd != NOWHERE && done < size) {
		n = write_once(fd < 0 ? STDERR_FILENO : fd, text + done, size - done);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t) n;
	}
	return done || !size ? (long) done : n;
}
