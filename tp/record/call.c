/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a point calls at a call's entry. What it calls at its exit, and when it ends without
 * returning, is in call-exit.c.
 *
 * Two events a call (one event a call: one-event.c). An exit is recorded only in channels that
 * recorded the entry, so every reader's call stack balances: the slot remembers
 * the channel (an address, compared and never followed), or the set of channels
 * when there were several. A channel in which the user enabled only the exit
 * gets it, once that has lasted (ledger/halves.c). An entry that finds no room is lost, and its exit with it; an
 * exit that finds none is owed (ledger/debts.c).
 *
 * LTTng switches the events of entries and exits on and off one after the other, each first with and then without a
 * filter, and its thread may rest in between. Of a tree, whose two events say the same, that must not show: an
 * entry is recorded in a channel that takes exits at that moment (ledger/halves.c), and the exit goes to the channel
 * that has the entry, whatever the filter says by then.
 *
 * Signal handlers may come at any instruction; what they record in between uses
 * slots above ours and its own buffers on the stack. Slot fields of ours are
 * written after the slot was pushed and cleared before it is popped, so a slot
 * caught between shows no channel and no record.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "tp/record/record.h"

/* ---- entry ------------------------------------------------------------ */

static void heard_add(struct tp_due_set *heard, const void *channel)
{
	if (heard->n < TP_DUE_MAX)
		heard->channel[heard->n] = channel;
	heard->n++;
}

/* Any number of rules on the entry event, with filters and triggers. */
static __attribute__((noinline)) void fire_entry_all(
	struct spi_thread *t, struct tp_point *tp, uint8_t *record, uint32_t length, struct tp_due_set *heard,
	int first, int has_slot)
{
	const struct tp_event *fired = &tp->entry;
	const int is_tree = (tp->point->flags & SPI_POINT_TREE) != 0;
	struct tp_shot shot = { .event = fired, .record = record, .length = length };
	struct spi_thread_count *count = tp_count(t);

	heard->n = 0;
	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(fired); probe && probe->func; probe++) {
		struct lttng_ust_event_recorder *recorder = tp_recorder_of(probe);
		struct lttng_ust_channel_buffer *channel = recorder ? recorder->chan : NULL;
		int error = -ENOBUFS;

		if (!recorder)
			tp_notify_by(&shot, probe);
		if (!recorder || !tp_recorder_takes(&shot, probe->data, channel) ||
				(is_tree && !tp_pair_takes(tp, probe->data, channel, has_slot)))
			continue;
		if (!spi_thread_owes(t) || !tp_debts_block(t, channel))
			error = first ? tp_record_first(fired, record, length, recorder)
				      : tp_record(fired, record, length, recorder, channel);
		if (!error)
			heard_add(heard, channel);
		tp_alone_heard(tp, channel);
		count->lost_entries += (unsigned int) tp_discarded(error);
	}
	count->entries += heard->n;
}

/* The usual case of tp_pair_takes(): that channel alone takes exits, without a filter. What is of no tree need not be. */
SPI_INLINE int tree_is_paired(const struct tp_point *tp, const struct lttng_ust_channel_buffer *channel, const int has_slot)
{
	const struct lttng_ust_event_recorder *exits;

	if (!(tp->point->flags & SPI_POINT_TREE))
		return 1;
	exits = has_slot ? tp_probe_single(tp_probes(&tp->exit)) : NULL;
	return exits && exits->chan == channel && tp_pair_latest == channel;
}

/* Returns the one channel that recorded it; or NULL, and *n says how many of heard->channel[] did. */
SPI_INLINE const void *fire_entry(struct spi_thread *t, struct tp_point *tp, uint8_t *record, uint32_t length,
	struct tp_due_set *heard, uint32_t *n, const int has_slot)
{
	const struct tp_event *fired = &tp->entry;
	const int first = tp_is_first(t);
	struct lttng_ust_event_recorder *recorder;
	const void *one = NULL;
	tp_reader *reader;
	uint64_t mask;

	/* lttng-ust's variables for a thread come by malloc(): a handler's calls would wait for ever for what they interrupted */
	if (spi_unlikely(first))
		tp_signals_block(&mask);
	reader = tp_read_lock(t);
	recorder = tp_probe_single(tp_probes(fired));
	if (spi_unlikely(tp->point->flags & SPI_POINT_UNNAMED))
		tp_function_met(t, tp->point, first);
	*n = 0;
	if (spi_likely(recorder != NULL) && spi_likely(!spi_thread_owes(t)) && tree_is_paired(tp, recorder->chan, has_slot)) {
		int error = spi_unlikely(first) ? tp_record_first(fired, record, length, recorder)
						: tp_record(fired, record, length, recorder, recorder->chan);

		if (spi_likely(!error)) {
			one = recorder->chan;
			tp_count(t)->entries++;
			tp_alone_heard(tp, one);
		} else {
			tp_count(t)->lost_entries += (unsigned int) tp_discarded(error);
		}
	} else {
		fire_entry_all(t, tp, record, length, heard, first, has_slot);
		*n = heard->n;
	}
	tp_read_unlock(reader);
	if (spi_unlikely(first))
		tp_signals_unblock(&mask);
	return one;
}

/* Does a channel record this point's exits without its entries? Inside a read-side section. */
int tp_hears_exits_alone(struct tp_point *tp, const struct lttng_ust_channel_buffer *channel)
{
	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&tp->entry); probe && probe->func; probe++) {
		const struct lttng_ust_event_common *event = probe->data;

		if (tp_channel_of(probe) == channel && CMM_ACCESS_ONCE(event->enabled)) {
			tp_alone_heard(tp, channel);
			return 0;
		}
	}
	return tp_alone_lasts(tp, channel);
}

/* Nobody recorded the entry: does anybody want the exit by itself? A trigger, or a channel with only the exit enabled.
 */
__attribute__((noinline)) int tp_exit_wanted_alone(struct spi_thread *t, struct tp_point *tp)
{
	const int is_tree = (tp->point->flags & SPI_POINT_TREE) != 0;	/* LTTng switches the two on one after the other */
	tp_reader *reader = tp_read_lock(t);
	int wanted = 0;

	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&tp->exit); probe && probe->func && !wanted; probe++) {
		const struct lttng_ust_channel_buffer *channel = tp_channel_of(probe);
		const struct lttng_ust_event_common *event = probe->data;

		if (event->type == LTTNG_UST_EVENT_TYPE_NOTIFIER)
			wanted = event->enabled;
		else
			wanted = channel && !is_tree && tp_recorder_on(event, channel) && tp_hears_exits_alone(tp, channel);
	}
	tp_read_unlock(reader);
	return wanted;
}

/* Nothing is recorded any more. What lttng-ust calls when it ends is the tracer's. */
void tp_call_is_late(uint64_t p)
{
	if (!tp_core->within_lttng(p))
		spi_call_missed(tp_closed == TP_EXEC ? SPI_APART_EXEC : SPI_APART_END);
}

/* `one` recorded the entry, or, when that is NULL, n of heard->channel[]. */
SPI_INLINE uint64_t slot_take(struct spi_thread *t, struct spi_slot *slot, struct spi_point *point,
	struct spi_frame *frame, const void *one, const struct tp_due_set *heard, uint32_t n)
{
	uint64_t code = spi_slot_push(t, &slot, point, frame);

	if (spi_unlikely(!code))
		return 0;
	slot->start = t->tree_now;	/* the exit is for the same trees, should one end meanwhile */
	if (spi_likely(n <= 1))
		tp_due_one(slot, n ? heard->channel[0] : one);
	else
		tp_due_many(t, slot, heard);
	return code;
}

/* `generic`: the record is the function's address and its call site. Otherwise as fire_entry(). */
SPI_INLINE const void *record_entry(struct spi_thread *t, struct tp_point *tp, struct spi_frame *frame,
	const uint8_t *vec, uint64_t stride, struct tp_due_set *heard, uint32_t *n, const int has_slot,
	const int generic)
{
	const struct tp_program *program = tp->entry_program;
	uint8_t small[TP_SMALL_RECORD + TP_SLOP], *record = small;

	if (generic) {
		uint64_t words[2] = { tp->point->address, tp_call_site(tp->point, frame->ra) };

		return fire_entry(t, tp, (uint8_t *) words, sizeof(words), heard, n, has_slot);
	}
	if (spi_unlikely(program->length > TP_SMALL_RECORD))
		record = __builtin_alloca(program->length + TP_SLOP);
	return fire_entry(t, tp, record, tp_serialise(program, frame, vec, stride, record), heard, n, has_slot);
}

SPI_INLINE uint64_t entry_common(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride,
	const int generic)
{
	struct spi_thread *t = &spi_thread;
	struct tp_point *tp = point->payload;
	uint64_t p = (uint64_t) &frame->ra, code = 0;
	struct spi_slot *slot = NULL;
	const void *one = NULL;
	struct tp_due_set heard;
	uint32_t n = 0;
	int error_was, has_none = 0;

	if (!spi_call_begin(t, p, 1))
		return 0;
	error_was = *tp_errno(t);
	if (generic && (point->flags & SPI_POINT_TREE) && !(t->tree_now &= point->tree_live))
		goto out;		/* its trees were switched off: who does that waits for who is busy */
	if (spi_unlikely(tp_closed > TP_CAREFUL)) {
		tp_call_is_late(p);
		goto out;
	}
	if (tp_reader_is_over(t, p) || (spi_unlikely(point->flags & SPI_POINT_LOOPS) && tp_call_loops(t, point, frame)))
		goto out;
	if (spi_unlikely(spi_thread_owes(t)))
		tp_debts_pay(t);
	/* nobody listens to exits: the call needs no slot, unless to know a loop from a call */
	if (spi_likely(CMM_ACCESS_ONCE(tp->exit.tracepoint->state) || (point->flags & SPI_POINT_LOOPS)) &&
			spi_likely(!(point->flags & SPI_POINT_NO_EXIT))) {
		slot = spi_slot_ready(t, p);
		has_none = spi_unlikely(!slot);
	} else if (spi_unlikely(!t->cur)) {
		spi_thread_slow(p);
	}
	if (generic && spi_unlikely(has_none) && (point->flags & SPI_POINT_TREE)) {
		spi_call_missed(spi_slots_lack());
		goto out;		/* of a tree no call without its exit */
	}
	if (spi_likely(CMM_ACCESS_ONCE(tp->entry.tracepoint->state)))
		one = record_entry(t, tp, frame, vec, stride, &heard, &n, slot != NULL, generic);
	if (spi_likely(slot != NULL) && (spi_likely(one != NULL) || n ||
			(CMM_ACCESS_ONCE(tp->exit.tracepoint->state) && tp_exit_wanted_alone(t, tp))))
		code = slot_take(t, slot, point, frame, one, &heard, n);
	if (spi_unlikely(has_none) && (one || n)) {
		tp_count(t)->slots_exhausted++;
		spi_call_missed(spi_slots_lack() == SPI_LOST_OPEN ? SPI_ALONE_OPEN : SPI_ALONE_MEMORY);
	}
out:
	*tp_errno(t) = error_was;
	spi_call_end(t);
	return code;
}

uint64_t tp_call_entry(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	return entry_common(point, frame, vec, stride, 0);
}

uint64_t tp_generic_entry(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	uint32_t now = spi_thread.tree_now;
	uint64_t code;

	spi_thread.tree_now = spi_trees_recording(&spi_thread, point);
	code = entry_common(point, frame, vec, stride, 1);
	spi_thread.tree_now = now;
	return code;
}

/* ---- */

void tp_call_attach(struct spi_point *point, struct tp_point *tp)
{
	tp->point = point;
	tp->exit.is_end = 1;
	point->entry = tp_fast_entry(point, tp);
	point->exit = tp_fast_exit(tp);
	point->left = tp->entry_program ? tp_call_left : tp_generic_left;
	point->gate[0] = &tp->entry.tracepoint->state;
	point->gate[1] = &tp->exit.tracepoint->state;
	spi_barrier();
	point->payload = tp;
}
