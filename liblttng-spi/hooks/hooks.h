/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room hooks: puts the rows (base/hook.h) of all rooms in force, by the symbol order, the pointers of objects and jumps
 * at entries.
 *
 * Threads: the functions that change something are the control side's, under the control lock; the state of the rows and
 * all text and pointers that hooks write are guarded by that lock.
 */
#ifndef SPI_HOOKS_H
#define SPI_HOOKS_H

#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"

struct spi_map;

/* ---- tracer.c ---- */
/* Rows of the room's own, for control/init.c: functions of libc's that lttng-ust is to call. */
extern const struct spi_hook spi_tracer_hooks[] SPI_HIDDEN;

/* ---- table.c ---- */
/* Once, when the agent begins: before main(), or in the thread that the injector has stopped. */
void spi_hooks_begin(const struct spi_hook *const *lists) SPI_HIDDEN;
/* Is it a function of libc's that no call of the program comes to, as the agent's own does all that it does? Control side. */
int spi_hooks_replace(uint64_t address) SPI_HIDDEN;
/* Is it a function whose entry is needed for following programs, or for signals? Control side. */
int spi_hooks_need(uint64_t address) SPI_HIDDEN;

/* ---- got.c. Control side ---- */
void spi_hooks_point(void) SPI_HIDDEN;		/* an injected agent: the pointers of all objects that are loaded now */
void spi_hooks_point_tracer(void) SPI_HIDDEN;	/* lttng-ust's; also of a preloaded agent */
void spi_hooks_known(void) SPI_HIDDEN;		/* the objects of the latest scan have been looked at */
void spi_hooks_later(void) SPI_HIDDEN;		/* newer ones are, once they are relocated */
int64_t spi_hooks_wait(void) SPI_HIDDEN;	/* milliseconds until that is due; -1: nothing is. No lock */
void spi_hooks_step(void) SPI_HIDDEN;		/* do what is due */

/* ---- entries.c. Control side, but for the last ---- */
/*
 * The set's jumps are wanted. 0, or a negative errno: a set with vital rows cannot be had, now and later, or there is
 * no code map of libc yet. A row that cannot be had is noted once, with what is lost.
 */
int spi_hooks_enter(enum spi_hook_set set, struct spi_link *link) SPI_HIDDEN;
void spi_hooks_leave(enum spi_hook_set set) SPI_HIDDEN;
int spi_hooks_stand(enum spi_hook_set set) SPI_HIDDEN;		/* are they wanted, and there? */

#endif /* SPI_HOOKS_H */
