/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What clones.c and exec-watch.c share: children and threads that neither fork() nor pthread_create() makes. */
#ifndef SPI_CLONES_H
#define SPI_CLONES_H

#include "liblttng-spi/base/lend.h"
#include "liblttng-spi/core.h"

extern long (*spi_clones_next_syscall)(long number, ...) SPI_HIDDEN;
/* Instead of libc's: arch/x86-64/process/hooks.S. */
void spi_own_vfork(void) SPI_HIDDEN;
void spi_own_clone(void) SPI_HIDDEN;
void spi_own_syscall(void) SPI_HIDDEN;

/* ---- exec-watch.c ---- */
void spi_exec_by_syscall(int directory, const char *path, char *const argv[], char *const envp[], int flags, int is_at);
void spi_exec_note(const char *program, const char *reason);	/* any child: kept until its parent can tell */
void spi_exec_fault(const char *call, const char *reason);	/* the same of a call of the program's that failed for our being there */

/*
 * single.c: a system call that wants a process of one thread. All others are the tracer's, nobody's locks are held. 0: it was made, and
 * `result` is what call() returned; -1: it was not.
 */
int spi_single_call(int (*call)(void *data), void *data, int *result);

#endif /* SPI_CLONES_H */
