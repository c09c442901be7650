/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of base/ share beside base.h. Any thread. */
#ifndef SPI_BASE_INTERNAL_H
#define SPI_BASE_INTERNAL_H

#include <stdarg.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "liblttng-spi/base/base.h"

/* ---- sys.c: system calls that leave errno alone; small string work without libc state ---- */
long spi_fd_table_size(void);		/* how many descriptors this process has a table for; 0: unknown */

/* ---- log.c ---- */
int spi_vformat(char *buffer, size_t size, const char *format, va_list args);

/* The beginning of a file: bytes read, or -errno; -ESPIPE of what is no file. Any context. */
SPI_INLINE long spi_proc_read(long fd, char *text, unsigned long size)
{
	return spi_raw4(SYS_pread64, (uint64_t) fd, (uint64_t) text, size, 0);
}

/*
 * What is in /proc lies on no device and has neither size nor blocks (proc(5)). A directory of descriptors has a
 * size (Linux 6.2). Any context.
 */
SPI_INLINE void spi_proc_close(long fd)
{
	struct stat now;

	if (spi_raw3(SYS_fstat, (uint64_t) fd, (uint64_t) &now, 0) == 0 && !major(now.st_dev) && !now.st_blocks &&
			(S_ISDIR(now.st_mode) || (S_ISREG(now.st_mode) && !now.st_size)))
		spi_raw3(SYS_close, (uint64_t) fd, 0, 0);
}

#endif /* SPI_BASE_INTERNAL_H */
