/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Injections: bringing the agent into processes that run. For the broker's one thread; the work itself is done by
 * worker processes. What comes of an injection is an event of the process (broker/process/process.h).
 */
#ifndef SPI_BROKER_INJECT_INJECT_H
#define SPI_BROKER_INJECT_INJECT_H

#include <stdbool.h>
#include <sys/types.h>

#include "broker/process/process.h"

/* ---- queue.c ----------------------------------------------------------------------------------------------- */

/* Hooks of processes (struct process_hooks). */
bool injection_want(struct process *process);		/* queue it, and set .injection. False: no memory */
void injection_drop(struct process *process);		/* the process is gone or needs none */

/* Begin those for which there is a place, if there may be one since the last call. Processes may be marked by that. */
void injections_advance(void);
bool injections_are_over(void);				/* none is under way or waits */
void injections_stop(void);

/* ---- workers.c --------------------------------------------------------------------------------------------- */

/*
 * A program that was executed just now is stopped, if there is an idle worker of its user, before it is known whether a
 * rule names it. ..._end(): if it is not being injected by now, it goes on.
 */
void injection_stop_ahead(pid_t pid, uid_t uid, gid_t gid);
void injection_stop_ahead_end(pid_t pid);
void injections_keep_ready(bool wanted);		/* a worker of our own user, for that */

/* ---- places.c ---------------------------------------------------------------------------------------------- */

/* A hook, too: the agent has its rules, or the process goes on without. */
void injection_begun(struct process *process);

#endif /* SPI_BROKER_INJECT_INJECT_H */
