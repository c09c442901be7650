/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a point calls at a call's exit, and when it ends without returning: the exit goes to the channels that have
 * the entry (call.c), and to those that have no entries (ledger/halves.c).
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "tp/record/record.h"

__attribute__((noinline)) void tp_exit_failed(struct spi_thread *t, const struct tp_point *tp, uint8_t *record,
	uint32_t length, const void *channel, int error)
{
	struct tp_shot shot = { .event = &tp->exit, .record = record, .length = length };

	if (tp_may_wait(error))
		tp_debts_add(t, &shot, channel);
	else
		tp_count(t)->lost_exits++;
}

/* Any number of rules on the exit event, with filters and triggers. Returns how many recorded it. */
static uint32_t exit_offer(
	struct spi_thread *t, struct tp_point *tp, uint8_t *record, uint32_t length, struct spi_slot *slot)
{
	struct tp_shot shot = { .event = &tp->exit, .record = record, .length = length };
	const int is_tree = (tp->point->flags & SPI_POINT_TREE) != 0;
	uint32_t n = 0;

	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&tp->exit); probe && probe->func; probe++) {
		struct lttng_ust_event_recorder *recorder = tp_recorder_of(probe);
		const struct lttng_ust_channel_buffer *channel = recorder ? recorder->chan : NULL;
		int error = -ENOBUFS;

		if (!recorder) {
			tp_notify_by(&shot, probe);
			continue;
		}
		const int is_due = tp_due_has(slot, channel);

		if (!is_due && !tp_exit_is_alone(tp, channel))
			continue;
		if (!(is_tree ? tp_recorder_on(probe->data, channel) : tp_recorder_takes(&shot, probe->data, channel))) {
			/* LTTng is about to remove it */
			tp_count(t)->lost_exits += is_due && !is_tree && tp_channel_on(channel) &&
				!tp_recorder_on(probe->data, channel);
			continue;
		}
		if (is_due && !is_tree)
			tp_exit_heard(tp, channel);
		if (!spi_thread_owes(t) || !tp_debts_block(t, channel))
			error = tp_record(&tp->exit, record, length, recorder);
		if (error && is_due)
			tp_exit_failed(t, tp, record, length, channel, error);
		else if (error)
			tp_count(t)->lost_exits++;
		n += !error;
	}
	if (!is_tree)
		tp_count(t)->lost_exits += tp_due_removed(slot, tp);
	return n;
}

static void fire_exit(
	struct spi_thread *t, struct tp_point *tp, uint8_t *record, uint32_t length, struct spi_slot *slot)
{
	tp_reader *reader = tp_read_lock(t);

	tp_count(t)->exits += exit_offer(t, tp, record, length, slot);
	tp_read_unlock(reader);
}

/* frame NULL: the call did not return, its values are zero. Exits that LTTng has removed meanwhile are counted. */
SPI_INLINE void record_exit(struct spi_thread *t, struct spi_slot *slot, const struct spi_frame *frame,
	const uint8_t *vec, uint64_t stride)
{
	struct tp_point *tp = slot->point->payload;
	const struct tp_program *program = tp->exit_program;
	uint64_t words[2] = { slot->point->address, tp_call_site(slot->point, slot->ra) };
	uint8_t record[program ? program->length + TP_SLOP : 1];

	if (spi_unlikely(spi_thread_owes(t)))
		tp_debts_pay(t);
	if (!program)
		fire_exit(t, tp, (uint8_t *) words, sizeof(words), slot);
	else if (spi_likely(frame != NULL))
		fire_exit(t, tp, record, tp_serialise(program, frame, vec, stride, record), slot);
	else
		fire_exit(t, tp, record, tp_serialise_zero(program, record), slot);
}

/* The trees that a call is recorded for: those of its entry, should one have ended meanwhile. */
SPI_INLINE uint32_t trees_before(struct spi_thread *t, const struct spi_slot *slot)
{
	const struct tp_point *tp = slot->point->payload;
	uint32_t now = t->tree_now;

	t->tree_now = tp->exit_program ? 0 : (uint32_t) slot->start;
	return now;
}

void tp_call_exit(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;
	const uint32_t now = trees_before(t, slot);
	int *error = tp_errno(t), error_was = *error, locked;

	if (spi_unlikely(slot + 1 != t->cur))
		spi_slot_leave_above(slot);
	tp_exit_begin(t, slot);
	locked = spi_unlikely(tp_closed == TP_CAREFUL) && tp_careful_lock(t);
	if (spi_likely(tp_closed <= TP_CAREFUL)) {
		if (spi_likely(slot->aux))	/* else it has been closed */
			record_exit(t, slot, frame, vec, stride);
		tp_due_over(slot);
	}					/* else who closed looks for what is left of the slot */
	if (spi_unlikely(locked))
		tp_careful_unlock(t);
	spi_slot_pop(t, slot);
	t->tree_now = now;
	*error = error_was;
	spi_call_end(t);
}

/* The core has marked the thread busy, and pops the slot itself. */
void tp_call_left(struct spi_slot *slot, enum spi_left how)
{
	struct spi_thread *t = &spi_thread;
	const struct tp_point *tp = slot->point->payload;
	const uint32_t now = trees_before(t, slot);
	int *error = tp_errno(t), error_was = *error, locked = tp_closed == TP_CAREFUL && tp_careful_lock(t);

	if (tp_closed <= TP_CAREFUL) {
		if (CMM_ACCESS_ONCE(tp->exit.tracepoint->state) && tp_due_is_owed(slot))
			tp_left_fire(t, 0, slot->point, how);
		if (slot->aux)
			record_exit(t, slot, NULL, NULL, 0);
		tp_due_over(slot);
	}
	if (locked)
		tp_careful_unlock(t);
	t->tree_now = now;
	*error = error_was;
}
