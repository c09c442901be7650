/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Files and directories of /proc that the tracer opens for a moment beside a program
 * that goes on. They get a low number (low-fds.c says what that may lead to): a
 * program that closes this number once too often and opens something has the number
 * itself before we are done. So nothing is read that could wait or be used up, as a pipe
 * can, and nothing is closed that does not look like one of these.
 */
#ifndef SPI_PROC_H
#define SPI_PROC_H

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include "liblttng-spi/patch/internal.h"

/* The beginning of a file: bytes read, or -errno; -ESPIPE of what is no file. Any context. */
SPI_INLINE long spi_proc_read(long fd, char *text, unsigned long size)
{
	return spi_raw4(SYS_pread64, (uint64_t) fd, (uint64_t) text, size, 0);
}

/* What is in /proc lies on no device and has neither size nor blocks (proc(5)). Any context. */
SPI_INLINE void spi_proc_close(long fd)
{
	struct stat now;

	if (spi_raw3(SYS_fstat, (uint64_t) fd, (uint64_t) &now, 0) == 0 && (S_ISREG(now.st_mode) || S_ISDIR(now.st_mode)) &&
			!major(now.st_dev) && !now.st_size && !now.st_blocks)
		spi_raw3(SYS_close, (uint64_t) fd, 0, 0);
}

/* Each thread's directory below /proc/self/task. */
void spi_tasks_each(void (*fn)(const char *tid, void *data), void *data);

#endif /* SPI_PROC_H */
