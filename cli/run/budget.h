/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What tracing cost the traced processes, and what a budget left out of them: told
 * by each agent for its process, again and again, the last time at its end.
 */
#ifndef SPI_CLI_RUN_BUDGET_H
#define SPI_CLI_RUN_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "injector/control/control.h"

struct hot_list;

struct budget_out {
	char *object, *function;
	uint64_t calls;
	unsigned int share;		/* 1/1000, the largest */
	unsigned int out, back;		/* processes that leave it out at the end, or did for a time */
};

/* Of one process, or of all. */
struct budget {
	struct spi_budget_told told;	/* sums; .budget of any */
	struct budget_out *list;
	size_t count, room;
};

/* budget_told() - an agent begins to tell; budget_left_out() - one of the functions that follow. Without memory it is forgotten. */
void budget_told(struct budget *budget, const struct spi_budget_told *told);
void budget_left_out(struct budget *budget, const struct spi_left_out_told *told);
/* budget_add() - one process is over: into the sum of all. `one` is empty then. */
void budget_add(struct budget *all, struct budget *one);
/* budget_say() - the summary's part: what tracing took, what was left out for that, or would be. `calls`: recorded ones. */
void budget_say(struct budget *budget, const struct hot_list *hot, uint64_t calls);
void budget_free(struct budget *budget);

#endif /* SPI_CLI_RUN_BUDGET_H */
