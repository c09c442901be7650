/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * One event a call, recorded at its end. The arguments wait beside the slot until
 * then (spi_slot.cookie says where), already as they will stand in the record;
 * the returned values, the duration and how the call was left are put behind
 * them. A call that finds no room is lost as a whole.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "tp/record/record.h"

static uint64_t one_entry(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;
	struct tp_point *tp = point->payload;
	uint64_t p = (uint64_t) &frame->ra, code = 0;
	struct spi_slot *slot;
	uint8_t *area;
	int *error, error_was;

	if (!spi_call_begin(t, p, 1))
		return 0;
	error = tp_errno(t);
	error_was = *error;
	if (spi_unlikely(tp_closed > TP_CAREFUL)) {
		tp_call_is_late(p);
		goto out;
	}
	if (tp_reader_is_over(t, p) || !CMM_ACCESS_ONCE(tp->entry.tracepoint->state) ||
			(spi_unlikely(point->flags & SPI_POINT_LOOPS) && tp_call_loops(t, point, frame)))
		goto out;
	slot = spi_slot_ready(t, p);
	code = spi_likely(slot != NULL) ? spi_slot_push(t, &slot, point, frame) : 0;
	area = spi_likely(code != 0) ? tp_area(slot, tp->area_size) : NULL;
	if (spi_unlikely(!area)) {
		spi_call_missed(code ? SPI_LOST_MEMORY : spi_slots_lack());
		if (code)
			spi_slot_pop(t, slot);
		code = 0;
		goto out;
	}
	slot->cookie = area;
	slot->aux = tp_epoch | (tp_serialise(tp->entry_program, frame, vec, stride, area) + 1);
	slot->start = tp_clock_now();
out:
	*error = error_was;
	spi_call_end(t);
	return code;
}

SPI_INLINE void fire_one(struct spi_thread *t, struct tp_shot *shot)
{
	struct spi_thread_count *count = tp_count(t);
	tp_reader *reader = tp_read_lock(t);

	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(shot->event); probe && probe->func; probe++) {
		struct lttng_ust_event_recorder *recorder = tp_recorder_of(probe);
		int error;

		if (spi_unlikely(!recorder))
			tp_notify_by(shot, probe);
		if (spi_unlikely(!recorder) || spi_unlikely(!tp_recorder_takes(shot, probe->data, recorder->chan)))
			continue;
		error = -ENOBUFS;
		if (spi_likely(!spi_thread_owes(t)) || !tp_debts_block(t, recorder->chan))
			error = tp_record_late(shot->event, shot->record, shot->length, recorder, shot);
		count->entries += !error;
		count->lost_entries += (unsigned int) tp_discarded(error);
	}
	tp_read_unlock(reader);
}

/* The record: what the entry left in the area, the returned values, the duration, how it was left. */
SPI_INLINE int one_shot(struct spi_slot *slot, const struct spi_frame *frame, const uint8_t *vec, uint64_t stride,
	enum spi_left how, struct tp_shot *shot)
{
	struct tp_point *tp = slot->point->payload;
	uint32_t length = slot->aux & (TP_EPOCH_STEP - 1);
	uint8_t *area = (uint8_t *) slot->cookie;

	if (spi_unlikely(!length || slot->aux - length != tp_epoch))
		return 0;
	length--;
	length += spi_likely(frame != NULL) ? tp_serialise(tp->exit_program, frame, vec, stride, area + length)
					    : tp_serialise_zero(tp->exit_program, area + length);
	shot->event = &tp->entry;
	shot->start = slot->start;
	shot->record = area;
	shot->late = area + length;
	shot->late_done = 0;
	area[length + 8] = (uint8_t) how;
	shot->length = length + 9;
	return 1;
}

int tp_one_shot(struct spi_slot *slot, enum spi_left how, struct tp_shot *shot)
{
	return one_shot(slot, NULL, NULL, 0, how, shot);
}

SPI_INLINE void one_record(struct spi_thread *t, struct spi_slot *slot, const struct spi_frame *frame,
	const uint8_t *vec, uint64_t stride, enum spi_left how)
{
	struct tp_shot shot;

	if (spi_unlikely(!one_shot(slot, frame, vec, stride, how, &shot)))
		return;
	if (spi_unlikely(spi_thread_owes(t)))
		tp_debts_pay(t);
	fire_one(t, &shot);
}

static void one_exit(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;
	const struct tp_point *tp = slot->point->payload;
	int *error = tp_errno(t), error_was = *error;

	tp_exit_begin(t, slot);
	if (spi_likely(tp_closed <= TP_CAREFUL)) {
		if (spi_likely(CMM_ACCESS_ONCE(tp->entry.tracepoint->state)))
			one_record(t, slot, frame, vec, stride, SPI_LEFT_RETURN);
		slot->aux = 0;
	}
	spi_slot_pop(t, slot);
	*error = error_was;
	spi_call_end(t);
}

static void one_left(struct spi_slot *slot, enum spi_left how)
{
	struct spi_thread *t = &spi_thread;
	const struct tp_point *tp = slot->point->payload;
	int *error = tp_errno(t), error_was = *error;

	if (tp_closed <= TP_CAREFUL) {
		if (CMM_ACCESS_ONCE(tp->entry.tracepoint->state))
			one_record(t, slot, NULL, NULL, 0, how);
		slot->aux = 0;
	}
	*error = error_was;
}

void tp_one_attach(struct spi_point *point, struct tp_point *tp)
{
	uint32_t most = tp->entry_program->length + TP_SLOP + tp->exit_program->length + TP_ONE_EXTRA;

	tp->point = point;
	tp->entry.is_end = 1;
	tp->area_size = most <= TP_AREA_SMALL ? TP_AREA_SMALL : TP_AREA_LARGE;
	*spi_point_record(point) = one_entry;
	point->exit = one_exit;
	point->left = one_left;
	point->gate[0] = point->gate[1] = &tp->entry.tracepoint->state;
	spi_barrier();
	point->payload = tp;
}
