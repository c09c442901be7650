/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The broker's loop: descriptors and timers, one thread, nothing that blocks. */
#ifndef SPI_BROKER_LOOP_H
#define SPI_BROKER_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/* A descriptor that is waited for. `fd` is -1 while it is not in the loop. */
struct loop_source {
	int fd;
	void (*ready)(struct loop_source *source, uint32_t events);
};

struct loop_timer {
	struct loop_timer *next;
	uint64_t at;		/* ms of loop_now() */
	bool armed;
	void (*fire)(struct loop_timer *timer);
};

#define LOOP_OWNER(pointer, type, member) ((type *) ((char *) (pointer) - __builtin_offsetof(type, member)))

int loop_init(void);	/* 0 or a negative errno */
uint64_t loop_now(void);	/* CLOCK_MONOTONIC, ms */

/* 0 or a negative errno, and the descriptor is the caller's still. */
int loop_add(struct loop_source *source, int fd, uint32_t events, void (*ready)(struct loop_source *, uint32_t));
void loop_change(struct loop_source *source, uint32_t events);
int loop_take(struct loop_source *source);	/* the descriptor, which is not closed, is the caller's */
void loop_remove(struct loop_source *source);	/* closes the descriptor; nothing when there is none */

void loop_timer_set(struct loop_timer *timer, unsigned int ms, void (*fire)(struct loop_timer *));
void loop_timer_cancel(struct loop_timer *timer);

/* Serve until done() or the loop itself fails; done is asked after each event. */
int loop_run(bool (*done)(void));

#endif /* SPI_BROKER_LOOP_H */
