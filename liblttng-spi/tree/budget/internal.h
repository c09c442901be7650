/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of tree/budget/ share. Under the patch lock, unless a function says otherwise. */
#ifndef SPI_TREE_BUDGET_INTERNAL_H
#define SPI_TREE_BUDGET_INTERNAL_H

#include "liblttng-spi/tree/budget/budget.h"

#define SPI_BUDGET_MS		UINT64_C(1000000)
#define SPI_BUDGET_SKIP_NS	22u		/* a call of a site with nothing to record */

struct spi_out {
	struct spi_tree_object *to;
	uint64_t func;			/* index; of a site, the function that it is in */
	struct spi_site *site;		/* the calls of this site, whomever they reach; NULL: the function's */
	uint32_t is_out;
	uint32_t is_news;		/* the trace has not been told yet */
	uint32_t tries;			/* how often it was left out */
	uint64_t calls;			/* recorded before it was left out */
	uint32_t share;			/* of the calls of the time before that, in 1/1000 */
	uint64_t rate;			/* what its records took then, ns a second of the program's own */
	uint64_t back_at;		/* not before */
};

#define SPI_SKIPPING_MAX	1024u

/* ---- budget.c ---- */
/* The budget of the process: the least that a tree has. All trees with a budget keep it together. Times in ns. */
struct spi_budget {
	uint32_t tenths;	/* of a percent; 0: none */
	uint32_t share;		/* of all recorded calls, those that these trees record, in 1/1024 */
	int64_t balance;	/* what tracing may still use up; below 0: what it has used too much */
	uint64_t window_own, window_cost;	/* since the calls were last counted */
	uint64_t rate;		/* what the records take, ns a second of the program's own, in the latest windows */
	uint32_t is_fresh;	/* the counted calls are of this window */
	uint64_t back_next;	/* not before: the next one comes back */
};

extern struct spi_budget spi_budget;
/* CPU time since the first tree began: the program's own, tracing's, and of that the records'. */
extern uint64_t spi_budget_own, spi_budget_spent, spi_budget_records;
void spi_budget_settle(void);	/* under the lock: bring the sums up to date where no tree has a budget */

/* ---- clock.c ---- */
uint64_t spi_budget_cpu(int32_t clock);		/* ns; 0: it cannot be read */
uint64_t spi_budget_tracers_used(void);		/* by all of the tracer's threads, ever */
uint64_t spi_budget_calls_recorded(void);	/* by all threads, ever */
void spi_budget_clock_measure(void);
void spi_budget_ticks_learn(uint64_t now);
void spi_budget_plain_measure(uint64_t ticks);	/* that one record took */
void spi_budget_flush_measure(uint64_t ns);	/* that one batch took */
uint64_t spi_budget_call_ns(int compact);
uint64_t spi_budget_cost(const struct spi_point *point);	/* of a call, ns */
void spi_budget_tracers_find(void);		/* control side, not under the lock */
void spi_budget_tracers_forget(void);

/* ---- out.c ---- */
extern struct spi_out spi_outs[];
extern uint32_t spi_out_count, spi_out_now;	/* ever, and out now */
/*
 * Leave out what costs most, until no more than `target` of the window's cost remains. Returns how many. The text
 * is left to spi_budget_settle_text().
 */
uint32_t spi_budget_leave_out(uint64_t target, uint64_t now);
/* While no object can be unloaded: text that is to be written for what was left out. */
void spi_budget_settle_text(void);
/* While no object can be unloaded: the one that cost least of those whose time has come. Returns how many. */
uint32_t spi_budget_bring_back(uint64_t now);
void spi_budget_forget(void);	/* fewer trees have a budget, or none */

/* ---- calls.c ---- */
extern struct spi_site *spi_calls_skipping[SPI_SKIPPING_MAX];	/* sites with `skipped` since then */
extern uint32_t spi_calls_skipping_count;
void spi_calls_reset(void);
extern uint64_t spi_calls_cost, spi_calls_cost_budget;	/* of all since then; of trees with a budget */

#endif /* SPI_TREE_BUDGET_INTERNAL_H */
