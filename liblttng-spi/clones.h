/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What clones.c and exec-watch.c share: children and threads that neither fork() nor pthread_create() makes. */
#ifndef SPI_CLONES_H
#define SPI_CLONES_H

#include "liblttng-spi/base/lend.h"
#include "liblttng-spi/core.h"

/* Before libc's clone(); instead of its _Fork() and syscall(). */
uint64_t spi_clone_entry(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
int spi_clones_fork(void);
void spi_clones_copy_begins(void);	/* in its child */
extern int (*spi_clones_next_fork)(void) SPI_HIDDEN;
extern long (*spi_clones_next_syscall)(long number, ...) SPI_HIDDEN;
void spi_clones_syscall_unwatched(void);
void spi_clones_init(void);

/* ---- exec-watch.c ---- */
int spi_exec_watches(const void *function);	/* does that stand at an entry of libc's? */
void spi_exec_by_syscall(int directory, const char *path, char *const argv[], char *const envp[], int flags, int is_at);
void spi_exec_note(const char *program, const char *reason);	/* any child: kept until its parent can tell */
void spi_exec_fault(const char *call, const char *reason);	/* the same of a call of the program's that failed for our being there */

/* ---- namespaces.c: instead of libc's ---- */
void spi_namespaces_init(void);		/* where nothing of libc's is watched; control side */
int spi_namespaces_unshare(int flags);
int spi_namespaces_setns(int fd, int type);
extern int (*spi_namespaces_next_unshare)(int flags) SPI_HIDDEN;
extern int (*spi_namespaces_next_setns)(int fd, int type) SPI_HIDDEN;

/*
 * single.c: a system call that wants a process of one thread. All others are the tracer's, nobody's locks are held. 0: it was made, and
 * `result` is what call() returned; -1: it was not.
 */
int spi_single_call(int (*call)(void *data), void *data, int *result);

#endif /* SPI_CLONES_H */
