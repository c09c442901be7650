/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Waking the control thread. spi_control_ring() leaves a sign; spi_control_ask() also waits until the control thread has looked. The other
 * functions are the control thread's.
 */
#ifndef SPI_BASE_WAKEUP_H
#define SPI_BASE_WAKEUP_H

#include <stdint.h>

/* The control thread looks what there is to do. Any thread, any state. */
void spi_control_ring(void);
/* A thread of the program: let the control thread look at what was loaded, and wait for that. */
void spi_control_ask(void);
/*
 * The control thread is at what rules name in a library that somebody is loading: the one that asks waits for so many milliseconds at
 * most. 0: for the usual time.
 */
extern uint32_t spi_control_works;
#define SPI_WORKS_ITSELF	30000u
#define SPI_WORKS_ASKS		8000u		/* the controller, which may be stopped */

/* ---- the control thread's ---- */
extern int spi_control_event;		/* an eventfd to poll; -1: there is no control thread */
extern int spi_control_event_own;	/* its number, which the program's close() leaves open; -1: none */
uint32_t spi_control_asked(void);	/* so often was asked */
void spi_control_answer(uint32_t all_until);
void spi_control_late_tell(void);	/* a note on what was not answered in time; control lock */
void spi_control_event_open(void);
void spi_control_event_shut(void);	/* nobody asks from now on */
void spi_control_event_end(void);	/* the same; what was asked is answered */
void spi_control_wakeup_fork_child(void);

#endif /* SPI_BASE_WAKEUP_H */
