/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The process mode: what this process is to the agent, and so what the agent may do in the program's threads. One variable holds the
 * mode, one table says what each mode permits, spi_may() asks, spi_mode_change() and spi_mode_set() change.
 *
 * A process begins as SPI_MODE_OWN. A forked child waits, begins with its first call that is to be recorded, and is OWN
 * then; or is left alone. A seccomp filter that kills leads to QUIET or SILENT, for good.
 *
 * All of it may be called from any thread, in any state, signal handlers included.
 */
#ifndef SPI_BASE_MODE_H
#define SPI_BASE_MODE_H

#include <stdint.h>

enum spi_mode {
	SPI_MODE_OWN,		/* the agent works here */
	SPI_MODE_CHILD_WAITS,	/* a forked child: nothing was started in it yet (process/child.c) */
	SPI_MODE_CHILD_BEGINS,	/* one thread is starting what a traced process has */
	SPI_MODE_CHILD_LEFT,	/* a forked child that is not traced, unless a controller comes by itself */
	SPI_MODE_QUIET,		/* in a sandbox (process/sandbox.c) in which the program's threads talk to nobody */
	SPI_MODE_SILENT,	/* nothing of the agent's makes a system call any more */
};

enum spi_permission {
	SPI_MAY_RECORD	= 1 << 0,	/* record calls, now or as soon as the process has begun */
	SPI_MAY_TALK	= 1 << 1,	/* talk to the controller; have children and executed programs traced */
	SPI_MAY_ACT	= 1 << 2,	/* make system calls at all: take memory, patch code */
	/*
	 * Asked for together with others: the calling thread is one of this process, which libc knows. A child on its parent's memory (vfork), a copy
	 * that no fork handler has seen, and a thread that libc has not made may not. Takes a system call.
	 */
	SPI_MAY_HERE	= 1 << 3,
};

/* Read directly where each call of the program asks: anything but SPI_MODE_OWN (0) leads to a closer look. */
extern uint32_t spi_mode __attribute__((visibility("hidden")));

/* May the calling thread do all of `what` (SPI_MAY_*)? */
int spi_may(uint32_t what);
/* One step, which only one of several threads makes. 1: the mode was `from` and is `to` now. */
int spi_mode_change(enum spi_mode from, enum spi_mode to);
void spi_mode_set(enum spi_mode mode);
/* The calling process is the one that SPI_MAY_HERE means: as the agent begins, and in the child within fork(). */
void spi_mode_process(void);

/* A forked child that has not begun. */
static inline int spi_mode_is_child(void)
{
	uint32_t mode = __atomic_load_n(&spi_mode, __ATOMIC_SEQ_CST);

	return mode >= SPI_MODE_CHILD_WAITS && mode <= SPI_MODE_CHILD_LEFT;
}

/* The agent was injected into a constructor: main() has not begun. */
extern int spi_attached_early;

/*
 * Nothing can be instrumented in this process any more, for a reason that its user is told: spi_give_up_soon() says so once (1: it is the first), and the
 * control side acts on it (process/clones.c). Any thread. The reason is a constant.
 */
const char *spi_given_up(void);		/* NULL: instrumenting goes on */
int spi_give_up_soon(const char *reason);
int spi_give_up_is_due(void);	/* 1 once */

#endif /* SPI_BASE_MODE_H */
