/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room dispositions: what the program asks and sets of its signals. The agent stands before sigaction(), sigprocmask(),
 * sigaltstack() and their kin (hooks), so that the program sees its own actions and masks while the agent has SIGTRAP and
 * the fault signals (room signals). Any thread, in any state, in signal handlers too.
 */
#ifndef SPI_DISPOSITIONS_H
#define SPI_DISPOSITIONS_H

#include <stdint.h>
#include "liblttng-spi/signals/signals.h"

/* ---- altstack.c ---- */
void spi_altstack_fork_child(void);

/* ---- actions.c ---- */
/* The program's action, where `handler` is another room's in its place; else NULL. Set by that room, once; NULL: there is none. */
extern const struct spi_sigaction *(*spi_signal_hidden)(int number, uint64_t handler);

/* ---- watch.c: signals are told of before the program gets them. SPI_WATCH_SIGNALS is set ---- */
/* control side. NULL, or why what the program sets later is not seen: nothing is watched then */
const char *spi_signals_watch(void);
void spi_signals_unwatch(void);		/* control side: the kernel has what the program wants again */
void spi_signal_watch(int number);	/* the program has set its action. Any thread */

#endif /* SPI_DISPOSITIONS_H */
