/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The call ledger, the event module's side: what a channel is owed for a call under way, and how the debt is settled.
 *
 * A call with two events has a return slot. A channel that has the call's entry is owed the call's exit. The slot says
 * which channels these are (a channel is an address to compare, never to follow):
 *
 *	aux				cookie		owed to
 *	0				-		nobody: no entry was recorded, or the exit is settled
 *	tp_epoch			channel		this channel (NULL: nobody, a trigger may want the exit)
 *	tp_epoch | TP_SLOT_SET		-		the channels of the set in the slot's area
 *	tp_epoch | length + 1		area		(one event a call: the arguments that wait in the area, record/one-event.c)
 *
 * How a debt is settled:
 *
 *	the call returns		record/call-exit.c: the exit, in the channels that are owed it
 *	exception, longjmp, thread ends	record/call-exit.c: spi_call:left, then the exit with values of zero
 *	the ring has no room		debts.c: the exit waits; until then the thread's new calls are lost there
 *	rule off, detach, exec, exit	close.c: spi_call:left and the exit, written by the thread that closes
 *	LTTng removes both events	due.c: the exit is lost, and counted
 *
 * Each exit that is given up counts in lost_exits. Nothing here allocates or takes a lock on the path of a call.
 */
#ifndef SPI_TP_LEDGER_H
#define SPI_TP_LEDGER_H

#include "liblttng-spi/base/base.h"
#include "tp/describe/describe.h"

/* ---- due.c: which channels are owed a call's exit. Any thread, any state ---- */

/* The epoch changes with a fork: slots from before the fork mean nothing in the child. */
#define TP_EPOCH_STEP	(1u << 16)
#define TP_SLOT_SET	1u
extern SPI_HIDDEN uint32_t tp_epoch;
SPI_HIDDEN void tp_due_forget_all(void);	/* nobody who recorded a call so far is to have its exit */

#define TP_DUE_MAX	15u
/* Channels that recorded an entry. n > TP_DUE_MAX: the others' exits are lost. */
struct tp_due_set {
	const void *channel[TP_DUE_MAX];
	uint32_t n;
};
_Static_assert(sizeof(struct tp_due_set) <= TP_AREA_SMALL, "kept in a slot's small area");

/* The channel has recorded the entry. */
SPI_INLINE void tp_due_heard(struct tp_due_set *heard, const void *channel)
{
	if (heard->n < TP_DUE_MAX)
		heard->channel[heard->n] = channel;
	heard->n++;
}

/* The n channels of `set`, or, where n is 0, the channel `one` are owed the exit. The slot was just pushed. */
SPI_HIDDEN void tp_due_many(struct spi_thread *t, struct spi_slot *slot, const struct tp_due_set *set);
SPI_INLINE void tp_due_one(struct spi_slot *slot, const void *channel)
{
	slot->cookie = channel;
	slot->aux = tp_epoch;
}

/* Is there a channel that has the entry? */
SPI_INLINE int tp_due_is_owed(const struct spi_slot *slot)
{
	return slot->aux == (tp_epoch | TP_SLOT_SET) || (slot->aux == tp_epoch && slot->cookie);
}

/* Nobody is owed anything; before the slot is popped. */
SPI_INLINE void tp_due_over(struct spi_slot *slot)
{
	slot->cookie = NULL;
	slot->aux = 0;
}

/* In a read-side section: from how many of them LTTng has removed the function's exits since the entry. */
SPI_HIDDEN uint32_t tp_due_removed(const struct spi_slot *slot, struct tp_point *tp);
/* The slot may be another thread's, and change meanwhile. */
SPI_HIDDEN int tp_due_has(const struct spi_slot *slot, const void *channel);
SPI_HIDDEN void tp_due_forget(struct spi_slot *slot, const void *channel);	/* the channel has the exit */

/* ---- debts.c: exits that found no room ---- */

/* Keep the exit record until the channel has room. Without memory the exit is lost. */
SPI_HIDDEN void tp_debts_add(struct spi_thread *t, const struct tp_shot *shot, const void *channel);
/* Write what waits, oldest (innermost) first. In a signal handler that interrupted a record: nothing. */
SPI_HIDDEN void tp_debts_pay(struct spi_thread *t);
/* Does an exit wait for this channel? Then no newer record of the thread may go there. */
SPI_HIDDEN int tp_debts_block(const struct spi_thread *t, const void *channel);
/* The thread ends: some last tries, the rest is lost. */
SPI_HIDDEN void tp_debts_end(struct spi_thread *t);
struct tp_debts;
/* What a thread owes is written when its calls are closed. other 0: the calling thread's. */
SPI_HIDDEN void tp_debts_close(int32_t other, struct tp_debts *d, struct spi_thread_count *count);
SPI_HIDDEN void tp_debts_forget(struct spi_thread *t);	/* in the child of a fork: the debts are the parent's */

/* ---- closed.c ---- */

/* Which threads record. A thread looks at tp_closed once the thread is busy; then the thread is waited for. */
enum tp_closed {
	TP_OPEN = 0,
	TP_CAREFUL,		/* everybody; calls are being closed, so a thread writes exits under its own lock */
	TP_EXEC,		/* nobody, but compact records may be written: an exec is about to come */
	TP_ENDED,		/* nobody any more */
};
extern SPI_HIDDEN uint32_t tp_closed;
SPI_HIDDEN int tp_close_begin(enum spi_close_for what);
SPI_HIDDEN void tp_close_end(enum spi_close_for what);

/* The calling thread's own lock, while TP_CAREFUL. 0: a signal handler interrupted the code that holds the lock. */
SPI_HIDDEN int tp_careful_lock(const struct spi_thread *t);
SPI_HIDDEN void tp_careful_unlock(const struct spi_thread *t);

/* ---- halves.c ---- */

SPI_HIDDEN void tp_exit_note(struct tp_point *tp, const void *channel);
/* The channel has the function's exit with its entry. Not of a tree's point. */
SPI_INLINE void tp_exit_heard(struct tp_point *tp, const void *channel)
{
	if (spi_likely(tp->paired[0].channel == channel && !tp->paired[0].missing) ||
			(tp->paired[1].channel == channel && !tp->paired[1].missing))
		return;
	tp_exit_note(tp, channel);
}
/* The channel has the entries still: had it the exits a moment ago? */
SPI_HIDDEN int tp_exit_ended_lately(struct tp_point *tp, const void *channel);

/* ---- halves.c: channels that record one of a function's two events ---- */

/* Has the channel, which takes the exits, been without the entries for so long that it is to have the exits alone? Inside a read-side section. */
SPI_HIDDEN int tp_exit_is_alone(struct tp_point *tp, const void *channel);
SPI_HIDDEN void tp_alone_init(void);
SPI_HIDDEN void tp_alone_forked(void);

/* May this channel have the entry of a tree's call? has_slot: the call has a slot for its exit. */
SPI_HIDDEN int tp_pair_takes(const struct tp_point *tp, const struct lttng_ust_event_common *entry,
	const struct lttng_ust_channel_buffer *channel, int has_slot);
SPI_HIDDEN void tp_pair_seen(const void *channel);	/* a channel in which both ends of trees' calls are recorded */
extern SPI_HIDDEN const void *tp_pair_latest;		/* the latest of these */

#endif /* SPI_TP_LEDGER_H */
