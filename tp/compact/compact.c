/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The path of a call whose records are compact: read the TSC, claim a word, write
 * it, push a return slot. (Most calls of a tree do not even come here: their thunk
 * does that itself, words.S.) It calls nothing and touches no vector register, so its
 * thunks save general registers only (spi_thunk_entry_general); whatever needs more
 * (a full buffer, a thread's first call, a call that interrupted the tracer) asks
 * for the other thunks by its answer, and is called again with everything saved.
 *
 * Not all who come here have passed a gate: roots have none (root.c), nor have sites in trees of both kinds
 * (tree/sites/both.c). While nobody records they leave no words: these would be written when somebody does, and
 * not as whole calls.
 *
 * Signal handlers may come at any instruction. One between the TSC and the claim,
 * or between the claim and the word, writes whole calls around ours: the order of
 * words is a possible order of the calls, only ticks may step back by what the
 * handler took, and the word in the middle is 0 for as long (compact.h). An entry
 * has its word before its slot and an exit its word before the slot goes, so a
 * handler never finds a slot without an entry.
 */

#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "tp/compact/compact.h"

SPI_INLINE uint32_t tick_read(uint32_t *high)
{
	uint64_t ns;

	if (spi_likely(tp_compact_tsc))
		return spi_ticks_halves(high);
	ns = tp_clock_now();
	*high = (uint32_t) (ns >> 32);
	return (uint32_t) ns;
}

/* One instruction: only this thread and its handlers claim. */
SPI_INLINE uint32_t word_claim(struct tp_compact_thread *c, uint32_t n)
{
	return spi_local_add(&c->used, n);
}

SPI_INLINE void word_put(struct tp_compact_thread *c, uint64_t word, uint64_t second)
{
	uint32_t at = word_claim(c, second ? 2 : 1);

	if (second)
		*(volatile uint64_t *) &c->words[at + 1] = second | TP_WORD_SECOND;
	*(volatile uint64_t *) &c->words[at] = word;
}

SPI_INLINE uint64_t slot_take(
	struct spi_thread *t, struct spi_slot *slot, struct spi_point *point, struct spi_frame *frame, uint64_t word)
{
	uint64_t code = spi_slot_push(t, &slot, point, frame);

	slot->start = word;
	return code;
}

SPI_INLINE int is_gate_shut(void)
{
	return spi_unlikely(!CMM_ACCESS_ONCE(tp_compact_calls->tracepoint->state));
}

/* Its number: in several trees at once another one for each set of those that record it. */
SPI_INLINE const struct tp_compact_point *number_of(const struct spi_thread *t, struct spi_point *point)
{
	const struct tp_compact_point *cp = point->payload;
	uint32_t trees = spi_trees_recording(t, point) & *tp_core->tree_tagged;

	return spi_likely(cp->trees == trees) ? cp : tp_compact_number(point, trees);
}

/* ---- the slow way ------------------------------------------------------- */

#define WRAP_TICKS	(UINT32_C(1) << 27)	/* 50 ms at 2.7 GHz: the thread may be preempted meanwhile */

/*
 * All words of a buffer share the upper half of their ticks. Where that changes the buffer is written, and begins anew. But a handler
 * may have interrupted the making of a word that stands in it: this must get there first, or it would be lost.
 * What the handler records meanwhile has the last tick of the half before.
 */
SPI_INLINE int tick_fits(const struct tp_compact_thread *c, uint32_t high, uint32_t *low, int flushed)
{
	if (spi_unlikely(high != c->high)) {
		if (!flushed || high != c->high + 1 || *low >= WRAP_TICKS)
			return 0;
		*low = UINT32_MAX;
	}
	return c->used < c->soft;
}

/* Write a record whatever the buffer's state; 0 when there is no room at all. All registers are saved. */
static int record_slow(struct spi_thread *t, uint64_t word, uint64_t second)
{
	struct tp_compact_thread *c = tp_compact_of(t);
	uint64_t old;
	int done = 0, first = !c, flushed = 0, is_short = spi_stack_is_short(t, (uint64_t) __builtin_frame_address(0));
	uint64_t begin = 0, end;

	if (spi_unlikely(tp_closed == TP_ENDED) || (c && c->flushing))
		return 0;
	/* Where ticks are not the TSC's each call comes here: nothing needs signals blocked while there is room. */
	if (c) {
		uint32_t high, low = tick_read(&high);

		if (tick_fits(c, high, &low, 0)) {
			word_put(c, word | low, second);
			return 1;
		}
	}
	if (is_short && first)
		return 0;
	old = spi_signals_hold(TP_SIGNALS);
	if (first)
		c = tp_compact_begin(t);
	else if (is_short && c->used >= c->soft)	/* no room for a flush: there is behind the usual batch */
		c->soft = TP_COMPACT_ROOM;
	for (int tries = 0; c && tries < 8 && !done; tries++) {
		uint32_t high, low = tick_read(&high);

		if (tick_fits(c, high, &low, flushed)) {
			word_put(c, word | low, second);
			done = 1;
		} else if (is_short) {
			break;
		} else {
			if (!flushed++)
				tp_clock_pair(&begin);
			tp_compact_flush(c, tries < 2 ? TP_FLUSH_USUAL : TP_FLUSH_MUST);
		}
	}
	/*
	 * lttng-ust's thread-local memory is allocated when a thread first writes an event. Let that be where the thread
	 * begins: the first full buffer may well be filled by a call inside malloc(), under its lock.
	 */
	if (first && done)
		tp_compact_flush(c, TP_FLUSH_USUAL);
	if (flushed) {
		tp_clock_pair(&end);
		tp_core->compact_flushed(end - begin);
	}
	spi_signals_release(old);
	return done;
}

static __attribute__((noinline)) uint64_t entry_slow(
	struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t second)
{
	struct spi_thread *t = &spi_thread;
	const struct tp_compact_point *cp;
	uint64_t p = (uint64_t) &frame->ra, code = 0;
	struct spi_slot *slot;
	int *error, error_was;

	if (is_gate_shut())
		return 0;
	if (!vec)
		return SPI_ANSWER_FULL;
	if (!spi_call_begin(t, p, 1))
		return 0;
	error = tp_errno(t);
	error_was = *error;
	if (spi_unlikely(tp_closed == TP_ENDED)) {
		tp_call_is_late(p);
		goto out;
	}
	if (tp_reader_is_over(t, p) || (spi_unlikely(point->flags & SPI_POINT_LOOPS) && tp_call_loops(t, point, frame)))
		goto out;
	/* a thread's first record is written at once (record_slow()): when that can be */
	if (spi_unlikely(!tp_compact_of(t)) && !tp_compact_is_heard(t))
		goto out;
	slot = spi_slot_ready(t, p);
	cp = number_of(t, point);
	if (spi_likely(slot != NULL) && cp && !(point->flags & SPI_POINT_NO_EXIT) &&
			record_slow(t, cp->word | (uint64_t) (second ? TP_KIND_ENTRY_AT : TP_KIND_ENTRY) << 32, second))
		code = slot_take(t, slot, point, frame, cp->word);
	else if (!slot || !cp || !tp_compact_of(t))
		spi_call_missed(!slot ? spi_slots_lack() : cp ? SPI_LOST_THREAD : SPI_LOST_MEMORY);
	else
		tp_count(t)->lost_entries++;
out:
	*error = error_was;
	spi_call_end(t);
	return code;
}

static __attribute__((noinline)) uint64_t exit_slow(struct spi_slot *slot, const uint8_t *vec)
{
	struct spi_thread *t = &spi_thread;
	int *error, error_was;

	if (!vec)
		return SPI_ANSWER_FULL;
	error = tp_errno(t);
	error_was = *error;
	if (spi_unlikely(slot + 1 != t->cur))
		spi_slot_leave_above(slot);
	tp_exit_begin(t, slot);
	if (!record_slow(t, slot->start | (uint64_t) TP_KIND_EXIT << 32, 0))
		tp_count(t)->lost_exits += tp_closed != TP_ENDED;
	spi_slot_pop(t, slot);
	*error = error_was;
	spi_call_end(t);
	return 0;
}

/* The core has marked the thread busy, and pops the slot itself. */
static void compact_left(struct spi_slot *slot, enum spi_left how)
{
	struct spi_thread *t = &spi_thread;
	int *error = tp_errno(t), error_was = *error;

	if (tp_closed != TP_ENDED) {
		tp_left_fire(t, 0, slot->point, how);
		if (!record_slow(t, slot->start | (uint64_t) TP_KIND_LEFT << 32, (uint64_t) how + 1))
			tp_count(t)->lost_exits++;
	}
	*error = error_was;
}

/* ---- the usual way ------------------------------------------------------ */

SPI_INLINE uint64_t entry_common(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t second)
{
	struct spi_thread *t = &spi_thread;
	struct tp_compact_thread *c = tp_compact_of(t);
	const struct tp_compact_point *cp;
	struct spi_slot *slot = t->cur;
	uint64_t p = (uint64_t) &frame->ra;
	uint32_t high, low;

	if (is_gate_shut())
		return 0;
	if (spi_unlikely(t->busy) || spi_unlikely(!c) || spi_unlikely(slot == t->end) ||
			(slot > t->base && spi_unlikely(slot[-1].p <= p) && !spi_slot_is_chained(slot - 1, p)))
		return entry_slow(point, frame, vec, second);
	cp = number_of(t, point);
	if (spi_unlikely(!cp))
		return entry_slow(point, frame, vec, second);
	low = spi_ticks_halves(&high);
	if (spi_unlikely(high != c->high) || spi_unlikely(c->used >= c->limit))
		return entry_slow(point, frame, vec, second);
	word_put(c, cp->word | (second ? (uint64_t) TP_KIND_ENTRY_AT << 32 : 0) | low, second);
	return slot_take(t, slot, point, frame, cp->word);
}

static uint64_t entry_from(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	return entry_common(point, frame, vec, 0);
}

static uint64_t entry_any(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	return entry_common(point, frame, vec, tp_call_site(point, frame->ra));
}

static uint64_t entry_rare(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	return entry_slow(point, frame, vec, point->call_site ? 0 : tp_call_site(point, frame->ra));
}

/* Of type spi_exit_fn but for its answer, which the thunk that comes with it takes. */
static uint64_t compact_exit(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;
	struct tp_compact_thread *c = tp_compact_of(t);
	uint32_t high, low;

	if (spi_unlikely(!c) || spi_unlikely(slot + 1 != t->cur))
		return exit_slow(slot, vec);
	low = spi_ticks_halves(&high);
	if (spi_unlikely(high != c->high) || spi_unlikely(c->used >= c->limit))
		return exit_slow(slot, vec);
	word_put(c, slot->start | (uint64_t) TP_KIND_EXIT << 32 | low, 0);
	spi_slot_pop(t, slot);
	return 0;
}

/* What a point calls; its gates, thunks and entry are set by who binds it. */
void tp_compact_attach(struct spi_point *point, struct tp_compact_point *cp)
{
	spi_entry_fn entry = entry_any;

	if (point->flags & (SPI_POINT_LOOPS | SPI_POINT_NO_EXIT))
		entry = entry_rare;
	else if (point->call_site)
		entry = entry_from;
	cp->point = point;
	cp->first = cp;
	cp->is_words = entry == entry_from;
	cp->is_fresh = point->call_site != 0;
	point->exit = (spi_exit_fn) (void (*)(void)) compact_exit;
	point->left = compact_left;
	point->flags |= SPI_POINT_COMPACT | (entry == entry_from ? SPI_POINT_WORDS : 0);
	point->payload = cp;
	point->word = cp->word;
	__atomic_store_n(&point->record, entry, __ATOMIC_RELEASE);
}
