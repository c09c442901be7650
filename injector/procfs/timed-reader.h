/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Files of /proc whose reader may have to wait for the process, read by a child with a deadline.
 * `uid`: whose process it is.
 */
#ifndef SPI_INJECTOR_PROCFS_TIMED_READER_H
#define SPI_INJECTOR_PROCFS_TIMED_READER_H

#include <stdbool.h>
#include <sys/types.h>

struct spi_names;

/* spi_names_read(); -ETIMEDOUT or -EBUSY: only those that are had without waiting. */
int spi_reader_names(struct spi_names *names, pid_t pid, uid_t uid, const char *file);
/* Is `text`, at most 63 bytes, in /proc/PID/maps, in the part that was read in time? In /proc/PID/cmdline? */
bool spi_reader_maps_have(pid_t pid, uid_t uid, const char *text);
bool spi_reader_arguments_have(pid_t pid, uid_t uid, const char *text);

#endif /* SPI_INJECTOR_PROCFS_TIMED_READER_H */
