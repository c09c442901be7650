/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of process/ share. Any thread of the program's, unless a function says otherwise. */
#ifndef SPI_PROCESS_INTERNAL_H
#define SPI_PROCESS_INTERNAL_H

#include "liblttng-spi/process/process.h"

struct spi_fork_handlers {
	void (*before)(void), (*in_parent)(void), (*in_child)(void);
	void (*last_before)(void), (*last_parent)(void), (*last_child)(void);	/* as they were registered, a moment ago */
};

enum spi_exec_kind {
	SPI_EXEC_FAILS,		/* execve() will fail, or what it does cannot be told */
	SPI_EXEC_UNFIT,		/* it will run, but the agent cannot be preloaded: *reason */
	SPI_EXEC_FITS,
};

/* ---- last-thread.c: the end of a process whose first thread has ended ---- */
void spi_last_thread_watch(void);		/* whatever way the first thread will end */
int spi_last_thread_is_one(void);		/* the program has no thread but the calling one */

/* ---- child.c: a forked child, until it begins ---- */
void spi_child_forked(int had_link, const char *socket);	/* in the child, within fork() */
int spi_child_confined(void);		/* a sandbox comes: 1: it had not begun, and does not any more; its calls make no system calls */

/* ---- child-sockets.c ---- */
void spi_child_sockets_look(void);	/* before the fork */
void spi_child_sockets_drop(void);	/* in the child */

/* ---- descriptors.c: close() and its like for a preloaded program ---- */
void spi_descriptors_fork_begin(void);	/* nobody asks lttng-ust's list of descriptors until: */
void spi_descriptors_fork_end(int is_child);
void spi_descriptors_copy_child(void);	/* in a child on a copy of the memory, over whose making nobody held locks */

/* ---- tasks.c: the tracer's threads are not in what a program sees of /proc/self/task ---- */
int spi_task_is_hidden(int directory, const char *name);	/* an entry of any directory */

/* ---- clones.c ---- */
void spi_give_up(const char *reason);	/* a thread of the program, which may wait; `reason` stays */
extern long (*spi_clones_next_syscall)(long number, ...) SPI_HIDDEN;

/* ---- fork-order.c ---- */
void spi_fork_come_first(const struct spi_fork_handlers *ours);
int spi_fork_is_first(void);

/* ---- child-tell.c: SPI_WATCH_CHILDREN; around fork(), in the thread that forks ---- */
void spi_child_tell_begin(void);
void spi_child_tell_parent(void);
void spi_fork_before(void);			/* its handlers, for who ends the other threads and goes on as a child would: */
void spi_fork_after(int is_single);		/* 0: they did not end */

/* ---- exec-file.c: opens and reads, and nothing else; any thread, vforked children included ---- */
/* `path` as execveat() takes it, with AT_EMPTY_PATH or without. */
enum spi_exec_kind spi_exec_look(int directory, const char *path, int flags, const char **reason);

/* ---- exec-env.c ---- */
const char *spi_exec_socket(void);	/* NULL: nowhere */
const char *spi_exec_agent(void);	/* the agent's own file */
/* Bytes that spi_exec_env_fill() needs; 0: the environment stays as it is. */
size_t spi_exec_env_size(char *const envp[]);
/* `envp` with what brings the agent along; in `room`, which is aligned. */
char **spi_exec_env_fill(void *room, char *const envp[]);

/* ---- exec-watch.c ---- */
void spi_exec_by_syscall(int directory, const char *path, char *const argv[], char *const envp[], int flags, int is_at);
void spi_exec_note(const char *program, const char *reason);	/* any child: kept until its parent can tell */
void spi_exec_fault(const char *call, const char *reason);	/* the same of a call of the program's that failed for our being there */

/* ---- single.c ---- */
/*
 * single.c: a system call that wants a process of one thread. All others are the tracer's, nobody's locks are held. 0: it was made, and
 * `result` is what call() returned; -1: it was not.
 */
int spi_single_call(int (*call)(void *data), void *data, int *result);

/* ---- sandbox.c ---- */
/* Before seccomp(operation, flags, args) by syscall(). 1: it has to be for the calling thread alone. */
int spi_sandbox_by_syscall(uint64_t operation, uint64_t flags, uint64_t args);
/*
 * The process goes on without the tracer, which has neither destructors nor system calls from here on. Any thread;
 * takes no lock.
 */
void spi_sandbox_drop(void);

/* ---- fork.c ---- */
void spi_child_tell(int32_t child);	/* as child_made() */

#endif /* SPI_PROCESS_INTERNAL_H */
