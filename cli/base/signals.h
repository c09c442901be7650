/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Signals of the front end. They are blocked and read from a descriptor, so that
 * every place that waits can be left in an orderly way: a session destroyed, a
 * relay daemon ended, the target un-instrumented. What COMMAND gets is what the
 * front end itself was started with; the other programs that the front end runs
 * get all signals as they are by default.
 */
#ifndef SPI_CLI_BASE_SIGNALS_H
#define SPI_CLI_BASE_SIGNALS_H

#include <sys/types.h>

/*
 * signals_take() - block INT, QUIT, TERM and, unless it is ignored, HUP, and make broken pipes errors.
 * Returns the descriptor to poll and read with signals_next(), or a negative
 * errno. Call once, before the first child.
 */
int signals_take(void);

/* signals_descriptor() - that descriptor; -1: they were not taken. */
int signals_descriptor(void);

/* signals_wait() - is there one for signals_next() within `limit` ms? */
int signals_wait(int limit);

/*
 * signals_next() - the next signal that arrived, 0 when there is none.
 * *sender is the pid it came from (0: the kernel, as for ^C), may be NULL.
 */
int signals_next(int *sender);

/* signals_restore() - in COMMAND's process before exec: mask and dispositions as the front end found them. */
void signals_restore(void);

/*
 * signals_default() - in any other child before exec: no signal is ignored or blocked, whatever the front end was
 * started with. Our programs wait for children of theirs, and a reader that goes away ends them.
 */
void signals_default(void);

/* signals_die() - end as if `number` had never been caught, without a core file of ours. Does not return. */
void signals_die(int number) __attribute__((noreturn));

#endif /* SPI_CLI_BASE_SIGNALS_H */
