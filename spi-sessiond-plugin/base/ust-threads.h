/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* lttng-ust's threads in an application, and their place in line for a processor. For plugin and broker. */
#ifndef SPI_SESSIOND_BASE_UST_THREADS_H
#define SPI_SESSIOND_BASE_UST_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define UST_THREADS_MAX	4u	/* there are two */

/* Their ids; how many. */
unsigned int ust_threads_find(pid_t pid, pid_t tids[static UST_THREADS_MAX]);
/* First in line, if it has an ordinary place now. False: it stays as it was. */
bool ust_thread_ahead(pid_t pid, pid_t tid);
/* Does it stand where ust_thread_ahead() puts one? */
bool ust_thread_stands_ahead(pid_t tid);
/* An ordinary place again, for one that was put ahead, whoever did that. */
void ust_thread_back(pid_t pid, pid_t tid);
/* For all of a process that stand so, whatever their names are now; its first one only on demand. */
void ust_threads_back(pid_t pid, bool first_too);
/* Processor time that it has had, in nanoseconds. False: gone, or the kernel does not say. */
bool ust_thread_time(pid_t pid, pid_t tid, uint64_t *ns);

#endif /* SPI_SESSIOND_BASE_UST_THREADS_H */
