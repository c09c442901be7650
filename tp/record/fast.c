/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The usual call in one straight line: a thread that records nothing else and owes
 * nothing, one rule without a filter on the event, a small record, a ring with
 * room. lttng-ust's locked instructions and its reading of the clock keep the
 * processor from running ahead, so what stands between them is paid in full:
 * nothing is looked at twice here, the functions differ by what the record is made
 * of, and whatever is not as usual is left to call.c, from the beginning and with
 * nothing changed yet.
 *
 * The order of slots, records and fields is call.c's; why, stands there.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "tp/record/record.h"

#define FAST_RECORD	544u	/* bytes: two strings of the usual length and some integers; lttng-ust takes more stack */

_Static_assert(offsetof(struct spi_thread, owed) == offsetof(struct spi_thread, busy) + 4, "looked at together");

/* Neither busy nor in debt, and both addresses are known: errno's is found before the reader's (ust/fire.c). */
SPI_INLINE int fast_may(const struct spi_thread *t, tp_reader *const *place)
{
	uint64_t both;

	__builtin_memcpy(&both, (const uint8_t *) t + offsetof(struct spi_thread, busy), 8);
	return spi_likely(both == SPI_THREAD_IDLE) && spi_likely(place != NULL) && spi_likely(*place != NULL);
}

SPI_INLINE void fast_end(struct spi_thread *t)
{
	spi_barrier();
	t->busy = 0;
}

/* The slot for a call at stack position p, when none below it has to be reclaimed first. */
SPI_INLINE struct spi_slot *fast_slot(const struct spi_thread *t, uint64_t p)
{
	struct spi_slot *cur = t->cur;

	if (spi_unlikely(!cur) || spi_unlikely(cur == t->end) || spi_stack_is_short(t, p) ||
			spi_unlikely(cur > t->base && cur[-1].p <= p && !spi_slot_is_chained(cur - 1, p)))
		return NULL;
	return cur;
}

#define IS_ADDRESS(form)	((form) == TP_FORM_ADDRESS || (form) == TP_FORM_TREE)
#define HAS_TEXT(form)		((form) == TP_FORM_ANY || (form) == TP_FORM_STRING)
#define RECORD_ROOM(form)	((HAS_TEXT(form) ? FAST_RECORD : TP_SMALL_RECORD) + TP_SLOP)

/* ra: where the call returns to. */
SPI_INLINE uint32_t fast_serialise(const struct spi_point *point, const struct tp_program *program, uint64_t ra,
	const struct spi_frame *frame, const uint8_t *vec, uint64_t stride, uint8_t *to, const enum tp_program_form form)
{
	if (IS_ADDRESS(form)) {
		const uint64_t words[2] = { point->address, tp_call_site(point, ra) };

		__builtin_memcpy(to, words, sizeof(words));
		return sizeof(words);
	}
	if (form == TP_FORM_PLAIN4)
		tp_serialise_plain4(program, frame, to);
	else if (form == TP_FORM_PLAIN)
		tp_serialise_plain(program, frame, to);
	else if (form == TP_FORM_STRING)
		return tp_serialise_string(program, frame, to);
	else
		return tp_serialise(program, frame, vec, stride, to);
	return program->length;
}

/* The call has a slot: for the exit in this channel; NULL: for a trigger. */
SPI_INLINE uint64_t fast_push(struct spi_thread *t, struct spi_slot *slot, struct spi_point *point,
	struct spi_frame *frame, uint32_t trees, const void *channel, const enum tp_program_form form)
{
	uint64_t code = spi_slot_push(t, &slot, point, frame);

	if (IS_ADDRESS(form))
		slot->start = trees;
	tp_due_one(slot, channel);
	return code;
}

SPI_INLINE uint64_t fast_entry(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride,
	const enum tp_program_form form)
{
	const uint32_t unusual = SPI_POINT_LOOPS | SPI_POINT_UNNAMED | SPI_POINT_NO_EXIT;
	struct spi_thread *t = &spi_thread;
	struct tp_point *tp = point->payload;
	tp_reader **place = t->payload[TP_WORD_READER], *reader;
	uint64_t p = (uint64_t) &frame->ra, code = 0;
	uint8_t record[RECORD_ROOM(form)];
	struct lttng_ust_event_recorder *recorder;
	struct spi_slot *slot = NULL;
	int *errno_place, error_was, error;
	uint32_t length, trees = 0;

	if (spi_unlikely(!fast_may(t, place)) || (IS_ADDRESS(form) && spi_unlikely(point->flags & unusual)))
		return tp_call_entry(point, frame, vec, stride);
	if (spi_likely(CMM_ACCESS_ONCE(tp->exit.tracepoint->state)))
		slot = fast_slot(t, p);
	if (spi_unlikely(!slot) && (form == TP_FORM_TREE || CMM_ACCESS_ONCE(tp->exit.tracepoint->state)))
		return tp_call_entry(point, frame, vec, stride);
	errno_place = t->payload[TP_WORD_ERRNO];
	error_was = *errno_place;
	spi_busy_first(t, p);
	reader = tp_read_lock_at(place);
	if (form == TP_FORM_TREE)
		trees = spi_trees_recording(t, point);	/* asked while busy: switching a tree off waits for busy threads */
	recorder = tp_probe_single(tp_probes(&tp->entry));
	/* tp_closed is looked at when busy: ledger/closed.c */
	if (spi_unlikely(!recorder) || (form == TP_FORM_TREE && spi_unlikely(!trees)) || spi_unlikely(tp_closed)) {
		tp_read_unlock(reader);
		fast_end(t);
		return tp_call_entry(point, frame, vec, stride);
	}
	length = fast_serialise(point, tp->entry_program, frame->ra, frame, vec, stride, record, form);
	error = tp_record(&tp->entry, record, length, recorder);
	if (spi_likely(!error)) {
		if (form == TP_FORM_TREE && spi_unlikely(tp_pair_latest != recorder->chan))
			tp_pair_seen(recorder->chan);
		tp_count(t)->entries++;
		if (slot)
			code = fast_push(t, slot, point, frame, trees, recorder->chan, form);
		tp_read_unlock(reader);
	} else {
		tp_read_unlock(reader);
		tp_count(t)->lost_entries += (unsigned int) tp_discarded(error);
		if (slot && tp_exit_wanted(t, tp))
			code = fast_push(t, slot, point, frame, trees, NULL, form);
	}
	*errno_place = error_was;
	fast_end(t);
	return code;
}

SPI_INLINE void fast_exit(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride,
	const enum tp_program_form form)
{
	struct spi_thread *t = &spi_thread;
	struct tp_point *tp = slot->point->payload;
	tp_reader **place = t->payload[TP_WORD_READER], *reader;
	uint8_t record[RECORD_ROOM(form)];
	struct lttng_ust_event_recorder *recorder;
	int *errno_place, error_was, error;
	uint32_t length;

	if (spi_unlikely(!fast_may(t, place)) || spi_unlikely(slot->aux != tp_epoch) ||
			spi_unlikely(slot + 1 != t->cur)) {
		tp_call_exit(slot, frame, vec, stride);
		return;
	}
	errno_place = t->payload[TP_WORD_ERRNO];
	error_was = *errno_place;
	spi_busy_first(t, slot->p);
	reader = tp_read_lock_at(place);
	recorder = tp_probe_single(tp_probes(&tp->exit));
	if (spi_unlikely(!recorder) || spi_unlikely(slot->cookie != recorder->chan) || spi_unlikely(tp_closed)) {
		tp_read_unlock(reader);
		fast_end(t);
		tp_call_exit(slot, frame, vec, stride);
		return;
	}
	if (!IS_ADDRESS(form) || !(slot->point->flags & SPI_POINT_TREE))	/* a tree's point has no room for that */
		tp_exit_heard(tp, recorder->chan);
	length = fast_serialise(slot->point, tp->exit_program, slot->ra, frame, vec, stride, record, form);
	error = tp_record(&tp->exit, record, length, recorder);
	if (spi_unlikely(error < 0))
		tp_exit_failed(t, tp, record, length, recorder->chan, error);
	tp_read_unlock(reader);
	tp_count(t)->exits += !error;
	tp_due_over(slot);
	spi_slot_pop(t, slot);
	*errno_place = error_was;
	fast_end(t);
}

#define ENTRY(name, form)											\
	static uint64_t name(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)	\
	{													\
		return fast_entry(point, frame, vec, stride, form);						\
	}
#define EXIT(name, form)											\
	static void name(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)	\
	{													\
		fast_exit(slot, frame, vec, stride, form);							\
	}
ENTRY(entry_plain4, TP_FORM_PLAIN4)
ENTRY(entry_plain, TP_FORM_PLAIN)
ENTRY(entry_string, TP_FORM_STRING)
ENTRY(entry_any, TP_FORM_ANY)
ENTRY(entry_address, TP_FORM_ADDRESS)
ENTRY(entry_tree, TP_FORM_TREE)
EXIT(exit_plain4, TP_FORM_PLAIN4)
EXIT(exit_any, TP_FORM_ANY)
EXIT(exit_address, TP_FORM_ADDRESS)

spi_entry_fn tp_fast_entry(const struct spi_point *point, const struct tp_point *tp)
{
	static const spi_entry_fn by_form[] = {
		[TP_FORM_ANY] = entry_any, [TP_FORM_PLAIN] = entry_plain, [TP_FORM_PLAIN4] = entry_plain4,
		[TP_FORM_STRING] = entry_string,
	};
	const struct tp_program *program = tp->entry_program;

	if (!program)
		return point->flags & SPI_POINT_TREE ? entry_tree : entry_address;
	if (program->length > FAST_RECORD || (point->flags & (SPI_POINT_LOOPS | SPI_POINT_NO_EXIT)))
		return tp_call_entry;
	return program->length <= TP_SMALL_RECORD || program->form == TP_FORM_STRING ? by_form[program->form] : entry_any;
}

spi_exit_fn tp_fast_exit(const struct tp_point *tp)
{
	const struct tp_program *program = tp->exit_program;

	if (!program)
		return exit_address;
	if (program->length > FAST_RECORD)
		return tp_call_exit;
	return program->form == TP_FORM_PLAIN4 && program->length <= TP_SMALL_RECORD ? exit_plain4 : exit_any;
}
