/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a point calls at a call's entry. What it calls at its exit, and when it ends without
 * returning, is in call-exit.c.
 *
 * Two events a call (one event a call: one-event.c). An exit is recorded only in channels that
 * recorded the entry, so every reader's call stack balances: the slot remembers
 * the channel (an address, compared and never followed), or the set of channels
 * when there were several. An entry that finds no room is lost, and its exit with it; an exit that finds none is
 * owed (ledger/debts.c).
 *
 * LTTng switches the two events on and off one after the other (ledger/halves.c). Of a tree, whose two events say the
 * same, that must not show: the exit goes to the channel that has the entry, whatever the filter says by then.
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

/* Any number of rules on the entry event, with filters and triggers. `heard` names the channels that have recorded the entry. */
static void entry_offer(struct spi_thread *t, const struct tp_entry *entry, uint8_t *record, uint32_t length,
	struct tp_due_set *heard)
{
	struct tp_point *tp = entry->tp;
	const int is_tree = (tp->point->flags & SPI_POINT_TREE) != 0, has_backtrace = !is_tree && tp->backtrace;
	struct tp_shot shot = { .event = &tp->entry, .record = record, .length = length };
	struct spi_thread_count *count = tp_count(t);

	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&tp->entry); probe && probe->func; probe++) {
		struct lttng_ust_event_recorder *recorder = tp_recorder_of(probe);
		struct lttng_ust_channel_buffer *channel = recorder ? recorder->chan : NULL;
		int error = -ENOBUFS;

		if (!recorder)
			tp_notify_by(&shot, probe);
		if (!recorder || !tp_recorder_takes(&shot, probe->data, channel) ||
				(is_tree && !tp_pair_takes(tp, probe->data, channel, entry->has_slot)) ||
				(spi_unlikely(has_backtrace) &&
				 tp_backtrace_frames(&shot, tp->point, probe->data, channel)))
			continue;
		if (!spi_thread_owes(t) || !tp_debts_block(t, channel))
			error = tp_record(&tp->entry, record, length, recorder);
		if (!error)
			tp_due_heard(heard, channel);
		count->lost_entries += (unsigned int) tp_discarded(error);
	}
	if (spi_unlikely(has_backtrace))
		tp_backtrace_offer(t, entry, heard);
	count->entries += heard->n;
}

static void fire_entry(struct spi_thread *t, const struct tp_entry *entry, uint8_t *record, uint32_t length,
	struct tp_due_set *heard)
{
	const int first = tp_is_first(t);
	tp_reader *reader;
	uint64_t mask = 0;

	/* lttng-ust's variables for a thread come by malloc(): a handler's calls would wait for ever for what they interrupted */
	if (spi_unlikely(first))
		mask = spi_signals_hold(TP_SIGNALS);
	reader = tp_read_lock(t);
	if (spi_unlikely(entry->tp->point->flags & SPI_POINT_UNNAMED))
		tp_function_met(t, entry->tp->point);
	entry_offer(t, entry, record, length, heard);
	tp_read_unlock(reader);
	if (spi_unlikely(first)) {
		tp_in_name_learn(tp_tid());
		spi_signals_release(mask);
	}
}

__attribute__((noinline)) int tp_exit_wanted(struct spi_thread *t, struct tp_point *tp)
{
	const int is_half = !CMM_ACCESS_ONCE(tp->entry.tracepoint->state) && !(tp->point->flags & SPI_POINT_TREE);
	tp_reader *reader = tp_read_lock(t);
	int is_wanted = 0, by_channel = 0;

	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&tp->exit); probe && probe->func; probe++) {
		const struct lttng_ust_channel_buffer *channel = tp_channel_of(probe);
		const struct lttng_ust_event_common *event = probe->data;

		is_wanted |= event->type == LTTNG_UST_EVENT_TYPE_NOTIFIER && event->enabled;
		if (!channel || !tp_recorder_on(event, channel))
			continue;
		by_channel = 1;
		is_wanted |= tp_exit_is_alone(tp, channel);
	}
	tp_read_unlock(reader);
	if (is_half && by_channel && !is_wanted)
		spi_call_missed(SPI_APART_HALF);
	return is_wanted;
}

/* Nothing is recorded any more. What lttng-ust calls when it ends is the tracer's. */
void tp_call_is_late(uint64_t p)
{
	if (!tp_core->within_lttng(p))
		spi_call_missed(tp_closed == TP_EXEC ? SPI_APART_EXEC : SPI_APART_END);
}

SPI_INLINE uint64_t slot_take(struct spi_thread *t, struct spi_slot *slot, struct spi_point *point,
	struct spi_frame *frame, const struct tp_due_set *heard)
{
	uint64_t code = spi_slot_push(t, &slot, point, frame);

	if (spi_unlikely(!code))
		return 0;
	slot->start = t->tree_now;	/* the exit is for the same trees, should one end meanwhile */
	if (spi_likely(heard->n <= 1))
		tp_due_one(slot, heard->n ? heard->channel[0] : NULL);
	else
		tp_due_many(t, slot, heard);
	return code;
}

/* Without a program the record is the function's address and its call site. */
SPI_INLINE void record_entry(struct spi_thread *t, const struct tp_entry *entry, struct tp_due_set *heard)
{
	const struct spi_point *point = entry->tp->point;
	const struct tp_program *program = entry->tp->entry_program;
	uint64_t words[2] = { point->address, tp_call_site(point, entry->frame->ra) };
	uint8_t record[program ? program->length + TP_SLOP : 1];

	if (program)
		fire_entry(t, entry, record, tp_serialise(program, entry->frame, entry->vec, entry->stride, record),
			heard);
	else
		fire_entry(t, entry, (uint8_t *) words, sizeof(words), heard);
}

uint64_t tp_call_entry(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	const int is_tree = (point->flags & SPI_POINT_TREE) != 0;
	struct spi_thread *t = &spi_thread;
	struct tp_point *tp = point->payload;
	uint64_t p = (uint64_t) &frame->ra, code = 0;
	struct spi_slot *slot = NULL;
	uint32_t now = t->tree_now;
	struct tp_due_set heard;
	int error_was, has_none = 0;

	if (!spi_call_begin(t, p, 1))
		return 0;
	error_was = *tp_errno(t);
	/* asked while busy: switching a tree off waits for busy threads */
	t->tree_now = spi_trees_recording(t, point);
	if (is_tree && !t->tree_now)
		goto out;
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
	if (is_tree && spi_unlikely(has_none)) {
		spi_call_missed(spi_slots_lack());
		goto out;		/* of a tree no call without its exit */
	}
	heard.n = 0;
	if (spi_likely(CMM_ACCESS_ONCE(tp->entry.tracepoint->state)))
		record_entry(t, &(struct tp_entry) { tp, frame, vec, stride, slot != NULL }, &heard);
	if (spi_likely(slot != NULL) && (spi_likely(heard.n) ||
			(CMM_ACCESS_ONCE(tp->exit.tracepoint->state) && tp_exit_wanted(t, tp))))
		code = slot_take(t, slot, point, frame, &heard);
	if (spi_unlikely(has_none) && heard.n) {
		tp_count(t)->slots_exhausted++;
		spi_call_missed(spi_slots_lack() == SPI_LOST_OPEN ? SPI_ALONE_OPEN : SPI_ALONE_MEMORY);
	}
out:
	t->tree_now = now;
	*tp_errno(t) = error_was;
	spi_call_end(t);
	return code;
}

/* ---- */

void tp_call_attach(struct spi_point *point, struct tp_point *tp)
{
	tp->point = point;
	tp->exit.is_end = 1;
	*spi_point_record(point) = tp_fast_entry(point, tp);
	point->exit = tp_fast_exit(tp);
	point->left = tp_call_left;
	point->gate[0] = &tp->entry.tracepoint->state;
	point->gate[1] = &tp->exit.tracepoint->state;
	spi_barrier();
	point->payload = tp;
}
