/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Trees that may slow the program down by so much and no more. Off unless a rule
 * has `budget=`: then all that this costs a call is the look at one word.
 *
 *	budget.c	the account: what tracing has cost, what the program has used itself
 *	clock.c	what that is made from
 *	out.c	which functions are left out, and which come back
 *	tell.c	what the trace, and the controller, is told of that
 *	calls.c	how often which function was called
 *
 * Everything here is under the patch lock unless it says otherwise.
 */
#ifndef SPI_BUDGET_H
#define SPI_BUDGET_H

#include "liblttng-spi/tree/sites/sites.h"

#define SPI_BUDGET_EVERY	1024u	/* recorded calls of a thread between two looks */
#define SPI_BUDGET_MS		UINT64_C(1000000)

/* The budget of the process: the least that a tree has. All trees with a budget keep it together. Times in ns. */
struct spi_budget {
	uint32_t tenths;	/* of a percent; 0: none */
	uint32_t share;		/* of all recorded calls, those that these trees record, in 1/1024 */
	int64_t balance;	/* what tracing may still use up; below 0: what it has used too much */
	uint64_t window_own, window_cost;	/* since the calls were last counted */
	uint64_t rate;		/* what the records take, ns a second of the program's own, in the latest windows */
	uint32_t is_fresh;	/* the counted calls are of this window */
	uint32_t out;		/* functions and call sites that are left out now */
	uint64_t back_next;	/* not before: the next one comes back */
};
extern struct spi_budget spi_budget;

/* ---- budget.c ---- */
extern uint32_t spi_tree_budgets;	/* trees that have one */
/* CPU time since the first tree began: the program's own, tracing's, and of that the records'. */
extern uint64_t spi_budget_own, spi_budget_spent, spi_budget_records;
/* Any thread, no lock: look at the account, if it is time to. `busy`: the thread is, by what is recorded right now. */
void spi_budget_look(int busy);
/* The call of a site after which it is to be looked. Then as if point->record() had been called. */
uint64_t spi_budget_call(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
void spi_budget_skip(struct spi_thread *t);	/* after so many calls with nothing to record */
/* Any thread: so much was used up for putting sites in place. */
void spi_budget_placed(uint64_t ns);
/* A thread has written a batch of compact records, which took so long. Payload's. */
void spi_budget_flushed(uint64_t ns);
/* Control side. */
/*
 * A tree begins, with a budget or without (`bit` 0); a tree with a budget has ended. tenths: the least budget of all
 * trees that are left.
 */
void spi_budget_start(uint32_t bit, uint32_t tenths);
void spi_budget_stop(uint32_t bit, uint32_t tenths);
void spi_budget_settle(void);	/* under the lock: bring the sums up to date where no tree has a budget */
void spi_budget_come_by(struct spi_link *link);	/* at times */
int64_t spi_budget_wait(void);	/* ms until then; -1: no need to */
void spi_budget_fork_child(void);
void spi_budget_forked(void);	/* not under the lock: all that the child has used up to here was the tracer's */

/*
 * Must it not be recorded, as it would be the thread's first, and malloc() may be what makes it? Of trees without a budget
 * the first is that of the thread's start routine.
 */
SPI_INLINE int spi_budget_is_early(const struct spi_thread *t, const struct spi_site *s)
{
	return spi_unlikely(!t->own) && s->owner->is_libc && spi_tree_budgets;
}

/* Is this call of the thread the one after which it is looked? */
SPI_INLINE int spi_budget_is_due(struct spi_thread *t)
{
	return spi_unlikely(spi_tree_budgets) && spi_unlikely(++t->budget_calls >= SPI_BUDGET_EVERY);
}
/* And the one with nothing to record? */
SPI_INLINE int spi_budget_skip_is_due(struct spi_thread *t)
{
	return ++t->budget_skips >= SPI_BUDGET_EVERY;
}

/* A call of a site, which has this point, is recorded, and the account looked at where that is due. */
SPI_INLINE uint64_t spi_budget_record(struct spi_thread *t, const struct spi_site *s, struct spi_point *point,
	struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	if (spi_budget_is_early(t, s))
		return 0;
	if (spi_budget_is_due(t))
		return vec ? spi_budget_call(point, frame, vec, stride) : SPI_ANSWER_FULL;
	return spi_tree_record(point, frame, vec, stride);
}

/* ---- clock.c ---- */
#define SPI_BUDGET_SKIP_NS	22u		/* a call of a site with nothing to record */
uint64_t spi_budget_cpu(int32_t clock);		/* ns; 0: it cannot be read */
uint64_t spi_budget_tracers_used(void);		/* by all of the tracer's threads, ever */
uint64_t spi_budget_calls_recorded(void);	/* by all threads, ever */
void spi_budget_clock_measure(void);
void spi_budget_ticks_learn(uint64_t now);
void spi_budget_plain_measure(uint64_t ticks);	/* that one record took */
void spi_budget_flush_measure(uint64_t ns);	/* that one batch took */
uint64_t spi_budget_call_ns(int compact);
uint64_t spi_budget_cost(const struct spi_point *point);	/* of a call, ns */
void spi_budget_tracers_find(void);		/* control side */
void spi_budget_tracers_forget(void);
void spi_budget_thread(void);			/* control side, not under the lock: the calling thread is the tracer's */

/* ---- out.c ---- */
struct spi_out {
	struct spi_tree_object *to;
	uint64_t func;			/* index; of a site, the function that it is in */
	struct spi_site *site;		/* the calls of this site, whomever they reach; NULL: the function's */
	uint32_t is_out;
	uint32_t is_news;		/* the trace has not been told yet */
	uint32_t tries;			/* how often it was left out */
	uint64_t calls;			/* recorded before it was left out */
	uint32_t share;			/* of the calls of the time before that, in 1/1000 */
	uint32_t next;			/* of those that are looked for together: 1 + its number; 0: no more */
	uint64_t rate;			/* what its records took then, ns a second of the program's own */
	uint64_t back_at;		/* not before */
};
extern struct spi_out *spi_outs;
extern uint32_t spi_out_count;
/*
 * Leave out what costs most, until no more than `target` of the window's cost remains. Returns how many. The text
 * is left to spi_budget_settle_text().
 */
uint32_t spi_budget_leave_out(uint64_t target, uint64_t now);
/* While no object can be unloaded: text that is to be written for what was left out. */
void spi_budget_settle_text(void);
/* While no object can be unloaded: the one that cost least of those whose time has come. Returns how many. */
uint32_t spi_budget_bring_back(uint64_t now);
void spi_budget_forget(void);	/* no tree has a budget any more */

/* ---- calls.c ---- */
/* Count what the points have counted; what each function's calls took since the last spi_calls_reset(), in ns. */
void spi_calls_gather(void);
#define SPI_SKIPPING_MAX	1024u
extern struct spi_site *spi_calls_skipping[SPI_SKIPPING_MAX];	/* sites with `skipped` since then */
extern uint32_t spi_calls_skipping_count;
void spi_calls_reset(void);
void spi_calls_fork_child(void);
extern uint64_t spi_calls_cost, spi_calls_cost_budget;	/* of all since then; of trees with a budget */

/* The functions that are called most, to the controller. */
void spi_tree_hot(struct spi_link *link);

/* ---- tell.c ---- */
/* To the trace. Control side, or at the process's end; not under the patch lock. */
void spi_budget_news(void);
void spi_budget_tell(struct spi_link *link, int always);	/* control side: to the controller */

#endif /* SPI_BUDGET_H */
