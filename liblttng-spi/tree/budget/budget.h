/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room tree/budget: trees that may slow the program down by so much and no more. Off unless a rule has `budget=`: then
 * all that this costs a call is the look at one word.
 *
 *	budget.c	the account: what tracing has cost, what the program has used itself
 *	clock.c		what that is made from
 *	out.c		which functions are left out, and which come back
 *	tell.c		what the trace, and the controller, is told of that
 *
 * Under the patch lock, unless a function says otherwise.
 */
#ifndef SPI_TREE_BUDGET_H
#define SPI_TREE_BUDGET_H

#include <stdint.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/tree/sites/sites.h"

struct spi_frame;

#define SPI_BUDGET_EVERY	1024u	/* recorded calls of a thread between two looks */

/* ---- budget.c ---- */
extern uint32_t spi_tree_budgets;	/* trees that have one */
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
void spi_budget_come_by(struct spi_link *link);	/* at times */
int64_t spi_budget_wait(void);	/* ms until then; -1: no need to */
void spi_budget_child_begins(void);
void spi_budget_forked(void);	/* not under the lock: all that the child has used up to here was the tracer's */

/* ---- clock.c ---- */
void spi_budget_thread(void);			/* control side, not under the lock: the calling thread is the tracer's */

/* ---- calls.c ---- */
/* Count what the points have counted; what each function's calls took since the last spi_calls_reset(), in ns. */
void spi_calls_gather(void);
void spi_calls_child_begins(void);
/* The functions that are called most, to the controller. */
void spi_tree_hot(struct spi_link *link);

/* ---- tell.c ---- */
/* To the trace. Control side, or at the process's end; not under the patch lock. */
void spi_budget_news(void);
void spi_budget_tell(struct spi_link *link, int always);	/* control side: to the controller */

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

#endif /* SPI_TREE_BUDGET_H */
