/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room process: what the program does with its process. fork() and its kin, exec(), threads that are not libc's, the end
 * of the first thread, closed descriptors, changed rights, sandboxes and namespaces. Each is a set of hooks; what other
 * rooms have to do at that moment they do as participants (base/participants.h).
 *
 * Threads: hooks run in the thread that calls libc's function, in any state, vforked children included. The rest is the
 * control side's, unless a function says otherwise. Between spi_fork_before() and spi_fork_after() the control lock, the
 * patch lock and the lock of the objects are held.
 */
#ifndef SPI_PROCESS_H
#define SPI_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include "liblttng-spi/arch/arch.h"
#include "liblttng-spi/link/link.h"

/* ---- last-thread.c: the end of a process whose first thread has ended ---- */
extern int spi_last_thread_ended;
void spi_last_thread_init(void);
void spi_last_thread_look(void);		/* from any thread */
void spi_last_thread_fork_child(void);
void spi_last_thread_first_ended(void);		/* it may have, without libc */

/* ---- child.c: a forked child, until it begins ---- */
/* Set as the agent begins: to start a control thread (spi_attach_child()); may a library that is loaded have something that a rule names? */
extern int (*spi_child_thread)(int fd, int how);
extern int (*spi_child_rules_may_gain)(void);
int spi_child_begin(int fd);		/* any thread that may allocate; fd: as for spi_attach_child(). 0 or a negative errno */
/* In the calling thread, of the program's. 1: the child has begun */
int spi_child_begin_now(void);
int spi_child_end(void);		/* the process ends: 1: it has not begun, and does not any more */
int spi_child_loads(void);		/* a library was loaded: 1: the child begins, and looks for itself when it has */
/* On its control thread: */
int spi_child_later(void);		/* when a moment is over. 0: the child begins here; negative: it does not, or somebody else is at it */
int spi_child_connection(int may_wait);	/* to its parent's controller. -1: there is none, or it takes none at once; -EPIPE: the trace is over */
void spi_child_is_late(void);
void spi_child_begins(int by_caller);	/* 1: waits until the caller has done so */
void spi_child_go(void);		/* it records from now on */
int spi_child_has_loads(void);		/* once */

/* ---- name.c ---- */
int spi_proc_name(char name[16]);		/* the first thread's, which is the process's: 0 or -1 */
/* A thread of the agent's has the process's name for a while; on another thread nothing happens. own: for giving it back. */
void spi_name_borrow(char own[16]);
void spi_name_give_back(const char own[16]);

/* ---- descriptors.c: close() and its like for a preloaded program ---- */
/* Who is asked before a number is closed: what lttng-ust's tracker has for it. NULL changes nothing. */
void spi_descriptors_guard(int (*close_fd)(int fd, int (*real_close)(int fd)));
/* A rule traces the function at this address. NULL: it may; else why the program's calls never come to it. Control side. */
const char *spi_descriptors_trace(uint64_t address);
extern void (*spi_descriptor_closes)(int fd);	/* before each close() of the program's; NULL: nobody is told. Any thread, any state */

/* ---- rights.c: setuid() and the like, for a preloaded program, and for the others from then on ---- */
void spi_rights_fork_child(void);

/* ---- exec-watch.c: programs that this one executes. Control side ---- */
extern uint32_t spi_tree_execs;			/* trees that follow executed programs */
void spi_exec_start(struct spi_link *link);
void spi_exec_stop(void);
void spi_exec_start_always(struct spi_link *link);	/* follow them whatever the rules say */
void spi_exec_stop_always(void);
void spi_exec_tell_held(void);			/* under the control lock */
void spi_exec_tell(void);			/* which could not be followed, to the controller; any thread */
void spi_exec_fork_child(void);

/* ---- clones.c ---- */
void spi_give_up_take(void);		/* control side, when one comes */

/* ---- fork.c ---- */
int spi_fork_init(void);

/* ---- exec-env.c ---- */
/*
 * Control side: where executed programs find the controller. `path` may lack its NUL; NULL: what a preloaded agent's
 * environment said.
 */
void spi_exec_env_init(const char *path, size_t size);
/* The numbers of the rules that executed programs come under wherever those act, "1+2"; control side. Empty: none. */
void spi_exec_env_follow(const char *numbers);
const char *spi_exec_env_followed(void);

/* ---- arch/x86-64/process/hooks.S ---- */
/* Instead of libc's: arch/x86-64/process/hooks.S. */
void spi_own_vfork(void) SPI_HIDDEN;
void spi_own_clone(void) SPI_HIDDEN;
void spi_own_syscall(void) SPI_HIDDEN;

/* ---- sandbox.c ---- */
/* lttng-ust and the event module have been loaded. Control side. */
void spi_sandbox_prepare(void);

#endif /* SPI_PROCESS_H */
