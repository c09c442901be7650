/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls of a tree, one event at each end: the records of generic.c, from points
 * that come up while the program runs.
 *
 * A point's payload is made at its first call, in the program's thread, from what
 * was registered for its object before: no lock is taken and nothing is allocated
 * but from the core's pool. The address is the callee's, the call site is the
 * point's own. The usual call goes straight through, as in fast.c; what is not as
 * usual is left to call.c, with nothing changed yet.
 */
#include <errno.h>
#include "tp/record/record.h"

SPI_INLINE int tree_may(const struct spi_thread *t, tp_reader *const *place)
{
	uint64_t both;

	_Static_assert(offsetof(struct spi_thread, owed) == offsetof(struct spi_thread, busy) + 4, "looked at together");
	__builtin_memcpy(&both, (const uint8_t *) t + offsetof(struct spi_thread, busy), 8);
	return spi_likely(both == SPI_THREAD_IDLE) && spi_likely(place != NULL) && spi_likely(*place != NULL);
}

static uint64_t tree_entry(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;
	struct tp_point *tp = point->payload;
	tp_reader **place = t->payload[TP_WORD_READER], *reader;
	uint64_t p = (uint64_t) &frame->ra, code = 0, words[2];
	struct lttng_ust_event_recorder *recorder;
	struct spi_slot *slot = t->cur;
	int *errno_place, error_was, error;
	uint32_t trees;

	if (spi_unlikely(!tree_may(t, place)) || spi_unlikely(point->flags & (SPI_POINT_LOOPS | SPI_POINT_UNNAMED)) || spi_unlikely(!slot) ||
			spi_unlikely(slot == t->end) || spi_stack_is_short(t, p) ||
			spi_unlikely(!CMM_ACCESS_ONCE(tp->exit.tracepoint->state)) ||
			spi_unlikely(slot > t->base && slot[-1].p <= p && !spi_slot_is_chained(slot - 1, p)))
		return tp_generic_entry(point, frame, vec, stride);
	errno_place = t->payload[TP_WORD_ERRNO];
	error_was = *errno_place;
	spi_busy_first(t, p);
	reader = tp_read_lock_at(place);
	trees = spi_trees_recording(t, point);	/* now, as who switches trees off waits for who is busy */
	recorder = tp_probe_single(tp_probes(&tp->entry));
	if (spi_unlikely(!recorder) || spi_unlikely(!trees) || spi_unlikely(tp_closed)) {
		tp_read_unlock(reader);
		spi_barrier();
		t->busy = 0;
		return tp_generic_entry(point, frame, vec, stride);
	}
	words[0] = point->address;
	words[1] = tp_call_site(point, frame->ra);
	error = tp_record(&tp->entry, (const uint8_t *) words, sizeof(words), recorder, recorder->chan);
	if (spi_likely(!error)) {
		if (spi_unlikely(tp_pair_latest != recorder->chan))
			tp_pair_seen(recorder->chan);
		tp_count(t)->entries++;
		code = spi_slot_push(t, &slot, point, frame);
		slot->start = trees;
		tp_due_one(slot, recorder->chan);
		tp_read_unlock(reader);
	} else {
		tp_read_unlock(reader);
		tp_count(t)->lost_entries += (unsigned int) tp_discarded(error);
		if (tp_exit_wanted_alone(t, tp)) {
			code = spi_slot_push(t, &slot, point, frame);
			slot->start = trees;
			tp_due_one(slot, NULL);
		}
	}
	*errno_place = error_was;
	spi_barrier();
	t->busy = 0;
	return code;
}

static void tree_exit(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;
	const struct spi_point *point = slot->point;
	const struct tp_point *tp = point->payload;
	tp_reader **place = t->payload[TP_WORD_READER], *reader;
	struct lttng_ust_event_recorder *recorder;
	int *errno_place, error_was, error;
	uint32_t n = 1;
	uint64_t words[2];

	if (spi_unlikely(!tree_may(t, place)) || spi_unlikely(slot->aux != tp_epoch) ||
			spi_unlikely(slot + 1 != t->cur)) {
		tp_generic_exit(slot, frame, vec, stride);
		return;
	}
	errno_place = t->payload[TP_WORD_ERRNO];
	error_was = *errno_place;
	spi_busy_first(t, slot->p);
	reader = tp_read_lock_at(place);
	recorder = tp_probe_single(tp_probes(&tp->exit));
	if (spi_unlikely(!recorder) || spi_unlikely(slot->cookie != recorder->chan) || spi_unlikely(tp_closed)) {
		tp_read_unlock(reader);
		spi_barrier();
		t->busy = 0;
		tp_generic_exit(slot, frame, vec, stride);
		return;
	}
	words[0] = point->address;
	words[1] = tp_call_site(point, slot->ra);
	error = tp_record(&tp->exit, (const uint8_t *) words, sizeof(words), recorder, recorder->chan);
	if (spi_unlikely(error < 0))
		n = tp_exit_failed(t, tp, (uint8_t *) words, sizeof(words), recorder, TP_DUE_BALANCE, error);
	tp_read_unlock(reader);
	tp_count(t)->exits += n;
	tp_due_over(slot);
	spi_slot_pop(t, slot);
	*errno_place = error_was;
	spi_barrier();
	t->busy = 0;
}

/* Any thread, any state. Until `record` is set nobody calls the point's payload. */
int tp_tree_bind(struct spi_point *point)
{
	struct tp_point *tp;

	tp = tp_core->alloc(offsetof(struct tp_point, installed));
	if (!tp || tp_generic_events(point, tp) < 0)
		return -ENOMEM;
	tp->point = point;
	point->exit = tree_exit;
	point->left = tp_generic_left;
	point->payload = tp;
	__atomic_fetch_or(&point->flags, SPI_POINT_UNNAMED, __ATOMIC_RELAXED);
	__atomic_store_n(&point->record, tree_entry, __ATOMIC_RELEASE);
	return 0;
}
