/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a point calls at a call's exit, and when it ends without returning: the exit goes to the channels that have
 * the entry (call.c).
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "tp/record/record.h"

/*
 * The ring refused an exit record. One that is larger than a sub-buffer would be
 * owed for ever and block the thread: it goes out with its values empty. Returns 1
 * when that recorded it.
 */
__attribute__((noinline)) uint32_t tp_exit_failed(struct spi_thread *t, const struct tp_point *tp, uint8_t *record,
	uint32_t length, struct lttng_ust_event_recorder *recorder, int error)
{
	uint8_t empty[error == -ENOSPC && tp->exit_program ? tp->exit_program->length + TP_SLOP : 1];
	struct tp_shot shot = { .event = &tp->exit, .record = record, .length = length };

	if (sizeof(empty) > 1) {
		shot.record = empty;
		shot.length = tp_serialise_zero(tp->exit_program, empty);
		error = tp_record(shot.event, empty, shot.length, recorder, recorder->chan);
		if (!error)
			return 1;
	}
	if (tp_may_wait(error))
		tp_debts_add(t, &shot, recorder->chan);
	else
		tp_count(t)->lost_exits++;
	return 0;
}

/* Any number of rules on the exit event, with filters and triggers. Returns how many recorded it. */
static __attribute__((noinline)) uint32_t fire_exit_all(
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
		if (!tp_due_has(slot, channel))
			continue;
		if (!(is_tree ? tp_recorder_on(probe->data, channel) : tp_recorder_takes(&shot, probe->data, channel))) {
			/* LTTng is about to remove it */
			tp_count(t)->lost_exits += !is_tree && tp_channel_on(channel) && !tp_recorder_on(probe->data, channel);
			continue;
		}
		if (!is_tree)
			tp_exit_heard(tp, channel);
		if (!spi_thread_owes(t) || !tp_debts_block(t, channel))
			error = tp_record(&tp->exit, record, length, recorder, recorder->chan);
		n += error ? tp_exit_failed(t, tp, record, length, recorder, error) : 1;
	}
	if (!is_tree)
		tp_count(t)->lost_exits += tp_due_removed(slot, tp);
	return n;
}

SPI_INLINE void fire_exit(struct spi_thread *t, struct tp_point *tp, uint8_t *record, uint32_t length, struct spi_slot *slot)
{
	tp_reader *reader = tp_read_lock(t);
	struct lttng_ust_event_recorder *recorder = tp_probe_single(tp_probes(&tp->exit));
	uint32_t n = 1;

	if (spi_likely(recorder != NULL) && spi_likely(slot->cookie == recorder->chan) &&
		spi_likely(slot->aux == tp_epoch) && spi_likely(!spi_thread_owes(t))) {
		int error = tp_record(&tp->exit, record, length, recorder, recorder->chan);

		if (spi_unlikely(error < 0))
			n = tp_exit_failed(t, tp, record, length, recorder, error);
	} else {
		n = fire_exit_all(t, tp, record, length, slot);
	}
	tp_read_unlock(reader);
	tp_count(t)->exits += n;
}

/* frame NULL: the call did not return, its values are zero. */
SPI_INLINE void record_exit(struct spi_thread *t, struct spi_slot *slot, const struct spi_frame *frame,
	const uint8_t *vec, uint64_t stride)
{
	struct tp_point *tp = slot->point->payload;
	const struct tp_program *program = tp->exit_program;
	uint32_t length;

	if (spi_unlikely(spi_thread_owes(t)))
		tp_debts_pay(t);
	if (!program) {
		uint64_t words[2] = { slot->point->address, tp_call_site(slot->point, slot->ra) };

		fire_exit(t, tp, (uint8_t *) words, sizeof(words), slot);
	} else {
		uint8_t small[TP_SMALL_RECORD + TP_SLOP], *record = small;

		if (spi_unlikely(program->length > TP_SMALL_RECORD))
			record = __builtin_alloca(program->length + TP_SLOP);
		length = spi_likely(frame != NULL) ? tp_serialise(program, frame, vec, stride, record)
						   : tp_serialise_zero(program, record);
		fire_exit(t, tp, record, length, slot);
	}
}

/* Nobody records exits of the function any more, though some did as the call began. */
static __attribute__((noinline)) void exit_removed(struct spi_thread *t, const struct spi_slot *slot)
{
	struct tp_point *tp = slot->point->payload;
	tp_reader *reader = slot->point->flags & SPI_POINT_TREE ? NULL : tp_read_lock(t);

	if (!reader)
		return;
	tp_count(t)->lost_exits += tp_due_removed(slot, tp);
	tp_read_unlock(reader);
}

SPI_INLINE int exit_state(const struct spi_slot *slot)
{
	const struct tp_point *tp = slot->point->payload;

	return CMM_ACCESS_ONCE(tp->exit.tracepoint->state);
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
		if (spi_likely(exit_state(slot)) && spi_likely(slot->aux))	/* else it has been closed */
			record_exit(t, slot, frame, vec, stride);
		else if (spi_unlikely(slot->aux))
			exit_removed(t, slot);
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
	const uint32_t now = trees_before(t, slot);
	int *error = tp_errno(t), error_was = *error, locked = tp_closed == TP_CAREFUL && tp_careful_lock(t);

	if (tp_closed <= TP_CAREFUL) {
		if (exit_state(slot) && slot->aux) {
			if (slot->aux == (tp_epoch | TP_SLOT_SET) || (slot->aux == tp_epoch && slot->cookie))
				tp_left_fire(t, 0, slot->point, how);
			record_exit(t, slot, NULL, NULL, 0);
		} else if (slot->aux) {
			exit_removed(t, slot);
		}
		tp_due_over(slot);
	}
	if (locked)
		tp_careful_unlock(t);
	t->tree_now = now;
	*error = error_was;
}
