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

/* The beginning of a file, ended by 0, at `path` from the directory `dir`: its size, or not above 0. Any context. */
long spi_proc_text_at(long dir, const char *path, char *text, size_t size);

/*
 * The entries of a directory in /proc whose names are numbers: threads or descriptors. Any context.
 * Between open (0, or -errno) and close, next says 1 while there is another one, and again begins anew.
 */
struct spi_numbers {
	long dir;
	const char *name;	/* of the entry that next has found, */
	int number;		/* and the number */
	long at, have;		/* have < 0: the directory cannot be read */
	_Alignas(8) char buffer[2048];
};
int spi_numbers_open(struct spi_numbers *n, const char *path);
int spi_numbers_next(struct spi_numbers *n);
void spi_numbers_again(struct spi_numbers *n);
void spi_numbers_close(struct spi_numbers *n);

/* A file of the thread that next has found in /proc/self/task, as spi_proc_text_at(). */
long spi_task_text(const struct spi_numbers *task, const char *file, char *text, size_t size);
/* That thread's stack pointer, and where it is, while it waits in the kernel. 0: it runs, or has ended. */
uint64_t spi_task_stack_pointer(const struct spi_numbers *task, uint64_t *pc);

#endif /* SPI_PROC_H */
