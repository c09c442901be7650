/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * From a thread's words to the ring: the words are packed, most entries into 4
 * bytes and most exits into 2, and written as one event (format.h).
 *
 * A batch can be read by itself: an exit whose entry lies in an earlier batch has
 * its number with it, and `depth` and `low` say what a batch that was lost did to
 * the stack of calls. So a reader that misses batches never guesses.
 *
 * A ring that is full may have room soon: the words are kept, and tried again,
 * until the buffer's room is used up; then they are lost, and counted. That is
 * done only while nobody took them, as a second session must not get them twice.
 */
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "tp/compact/compact.h"

#define CHUNK_LEAST	16u
#define END_TRIES	8u	/* of the last batch, when the ring is full */

/* What packing found. */
struct batch {
	uint32_t words, entries, exits;
	uint32_t outer;		/* exits of calls that were open before */
	uint32_t size;		/* bytes */
	uint64_t end_tick, end_ns;
};

static uint32_t chunk = TP_COMPACT_BATCH;	/* words of one event */

/* ---- packing ---- */

static uint8_t *put16(uint8_t *to, uint32_t v)
{
	memcpy(to, &v, 2);
	return to + 2;
}

static uint8_t *put32(uint8_t *to, uint32_t v)
{
	memcpy(to, &v, 4);
	return to + 4;
}

static uint8_t *put_other(uint8_t *to, uint32_t ticks, enum tp_packed_other what, uint32_t value)
{
	to = put16(to, ticks << 2 | TP_PACKED_OTHER);
	*to++ = (uint8_t) what;
	return put32(to, value);
}

static uint8_t *put_entry(uint8_t *to, uint32_t ticks, uint32_t number, uint64_t site)
{
	if (spi_unlikely(site != 0)) {
		to = put_other(to, ticks, TP_PACKED_ENTRY_AT, number);
		memcpy(to, &site, 8);
		return to + 8;
	}
	if (spi_likely(number < 65536))
		return put32(to, ticks << 2 | TP_PACKED_ENTRY16 | number << 16);
	return put32(put16(to, ticks << 2 | TP_PACKED_ENTRY32), number);
}

static uint8_t *put_left(uint8_t *to, uint32_t ticks, uint32_t number, uint64_t how)
{
	to = put16(to, ticks << 2 | TP_PACKED_OTHER);
	*to++ = TP_PACKED_LEFT32;
	*to++ = (uint8_t) (how - 1);
	return put32(to, number);
}

/*
 * Packing, on its way. Of each call that was opened in this batch `open` keeps what the upper half of its exit's word
 * will be; below them is what no exit has.
 */
struct packing {
	uint32_t at, end;	/* words */
	uint32_t before;	/* tick of the record before */
	uint32_t *open;
	uint8_t *to;
};

#define UPPER(number, kind)	((number) << 2 | (uint32_t) (kind))
#define UPPER_NONE		UINT32_MAX
/* Set in the upper half of a word that is not an entry whose number has 16 bits. */
#define UPPER_UNUSUAL		(UINT32_MAX << 18 | 3u)
_Static_assert(TP_KIND_ENTRY == 0 && TP_KIND_EXIT == 1, "an exit's upper half is its entry's, and one");

/* how: enum spi_left + 1 of a call that ended otherwise than by returning, or 0. */
static void pack_exit(struct packing *k, struct batch *b, uint32_t ticks, uint32_t number, uint64_t how)
{
	const int is_inner = k->open[-1] == UPPER(number, TP_KIND_EXIT);

	b->exits++;
	b->outer += !is_inner;
	k->open -= is_inner;
	if (how)
		k->to = put_left(k->to, ticks, number, how);
	else if (is_inner)
		k->to = put16(k->to, ticks << 2 | TP_PACKED_EXIT);
	else
		k->to = put_other(k->to, ticks, TP_PACKED_EXIT32, number);
}

/*
 * A record of any kind, or a word that is not written yet: 0 when packing ends there.
 * skip: such words belong to code that was abandoned. Ticks step back when a
 * handler ran between their reading and the claim of the word.
 */
static __attribute__((noinline)) int pack_any(struct tp_compact_thread *c, struct packing *k, struct batch *b, int skip,
	int describe)
{
	uint64_t word = __atomic_load_n(&c->words[k->at], __ATOMIC_ACQUIRE), second = 0;
	uint32_t kind = TP_WORD_KIND(word), number = TP_WORD_NUMBER(word), tick = (uint32_t) word, ticks;

	if (!word) {
		k->at += (uint32_t) skip;
		return skip;
	}
	if (number >= TP_SITE_MAX) {		/* the second word of a record that was abandoned */
		k->at++;
		return 1;
	}
	if (kind >= TP_KIND_ENTRY_AT) {
		second = k->at + 1 < k->end ? __atomic_load_n(&c->words[k->at + 1], __ATOMIC_ACQUIRE) : 0;
		if (!second)		/* it was written first: so this is the end of what is packed now */
			return 0;
		second &= ~TP_WORD_SECOND;
		k->at++;
	}
	k->at++;
	if (tick < k->before)
		tick = k->before;
	ticks = tick - k->before;
	k->before = tick;
	if (ticks >> TP_PACKED_TICK_BITS) {
		k->to = put_other(k->to, 0, TP_PACKED_TICKS, ticks);
		ticks = 0;
	}
	if (kind == TP_KIND_EXIT || kind == TP_KIND_LEFT) {
		pack_exit(k, b, ticks, number, second);
	} else {
		if (describe && tp_site_seen[number] != tp_site_generation)
			tp_site_describe(&spi_thread, number);
		b->entries++;
		*k->open++ = UPPER(number, TP_KIND_EXIT);
		k->to = put_entry(k->to, ticks, number, second);
	}
	return 1;
}

/*
 * So far `b` has what pack_any() met. The other words are entries, or exits of calls of this batch: `opened` of them are
 * open still.
 */
static void batch_count(struct batch *b, uint32_t words, int32_t opened)
{
	int32_t usual = (int32_t) (words - b->words);
	int32_t more = opened - (int32_t) b->entries + (int32_t) (b->exits - b->outer);	/* entries than exits among them */

	b->entries += (uint32_t) (usual + more) / 2;
	b->exits += (uint32_t) (usual - more) / 2;
	b->words = words;
}

/*
 * Pack words from `from` on, as long as they are written, and fewer than `end`. (B)
 * A word is seen only after it was claimed: `end` was read before. The loop has the
 * usual records only: an entry that needs 4 bytes, an exit that needs 2. A word
 * that is 0 has a number that was never described, and no exit's upper half. The
 * loop is a part of what each call costs, and costs its instructions: so entries and
 * exits are not counted one by one.
 */
static void batch_pack(struct tp_compact_thread *c, uint32_t from, uint32_t end, int skip, int describe, struct batch *b)
{
	const uint8_t generation = tp_site_generation;
	uint32_t *const first = c->open + 1, *open = first;
	const uint64_t *w = c->words + from, *const stop = c->words + end;
	uint32_t before = (uint32_t) c->begin_tick, at;
	uint8_t *to = c->packed;
	int more = 1;

	first[-1] = UPPER_NONE;
	b->words = b->entries = b->exits = b->outer = 0;
	while (w < stop && more) {
		uint64_t word = __atomic_load_n(w, __ATOMIC_ACQUIRE);
		uint32_t upper = (uint32_t) (word >> 32), ticks = (uint32_t) word - before;
		struct packing k;

		if (spi_likely(!(ticks >> TP_PACKED_TICK_BITS))) {
			if (upper == open[-1]) {
				open--;
				to = put16(to, ticks << 2 | TP_PACKED_EXIT);
				before = (uint32_t) word;
				w++;
				continue;
			}
			if (spi_likely(!(upper & UPPER_UNUSUAL)) && spi_likely(tp_site_seen[upper >> 2] == generation)) {
				*open++ = upper + 1;
				to = put32(to, (ticks << 2 | TP_PACKED_ENTRY16) | upper << 14);
				before = (uint32_t) word;
				w++;
				continue;
			}
		}
		at = (uint32_t) (w - c->words);
		k = (struct packing) { at, end, before, open, to };
		more = pack_any(c, &k, b, skip, describe);
		b->words += k.at - at;
		w = c->words + k.at;
		before = k.before;
		open = k.open;
		to = k.to;
	}
	batch_count(b, (uint32_t) (w - c->words) - from, (int32_t) (open - first));
	b->size = (uint32_t) (to - c->packed);
	memset(to, 0, 8);
	to[0] = TP_PACKED_OTHER;		/* then TP_PACKED_NONE */
}

/* ---- writing ---- */

/* Returns the event's bytes. */
static uint32_t head_fill(struct tp_compact_thread *c, const struct batch *b, uint32_t flags)
{
	uint32_t words = (b->size + 7) / 8;

	c->head = (struct tp_compact_head) { c->begin_tick, c->begin_ns, b->end_tick, b->end_ns, tp_compact_process,
		c->tid, c->seq, c->depth, c->low, flags, words };
	return (uint32_t) sizeof(c->head) + words * 8;
}

/*
 * TP_TOOK_* of all channels; 0: nobody listens. Inside a read-side section. A batch has calls of all rules, and is for
 * all of them. They are kept apart by the descriptions of their numbers, which go to those they concern.
 */
static unsigned int batch_write(struct tp_compact_thread *c, uint32_t length)
{
	struct tp_shot shot = { .event = tp_compact_calls, .record = (uint8_t *) &c->head, .length = length };
	unsigned int took;

	tp_context_text = tp_compact_tagged() ? tp_compact_tags_all() : "";
	took = tp_fire(&shot, 0);
	tp_context_text = NULL;
	if (took & TP_TOOK_ONE)
		tp_compact_written(length);
	return took;
}

/* ---- which of the open calls readers know ---- */

void tp_compact_set_apart(struct tp_compact_thread *c, uint32_t from, uint32_t to, int apart)
{
	for (uint32_t i = from; i < to && i < TP_COMPACT_LEVELS; i++) {
		if (apart)
			c->apart[i / 64] |= UINT64_C(1) << i % 64;
		else
			c->apart[i / 64] &= ~(UINT64_C(1) << i % 64);
	}
}

uint32_t tp_compact_known(const struct tp_compact_thread *c, uint32_t from, uint32_t to)
{
	uint32_t n = from < to ? to - from : 0;

	for (uint32_t i = from; i < to && i < TP_COMPACT_LEVELS; i++)
		n -= (uint32_t) (c->apart[i / 64] >> i % 64) & 1;
	return n;
}

/* Something is written: readers see the gap before it, and close what ended there. */
static uint32_t missed_made_up(struct tp_compact_thread *c, struct spi_thread_count *count)
{
	uint32_t missed = c->missed;

	c->missed = 0;
	if (spi_unlikely(missed))
		__atomic_fetch_sub(&count->lost_exits, missed, __ATOMIC_RELAXED);
	return missed;
}

/*
 * The batch is in the trace, or lost, or nobody wanted it. An exit counts together with its entry: that of a call whose
 * entry was lost is no record for a reader, and is not lost by itself either.
 */
static void batch_account(struct tp_compact_thread *c, const struct batch *b, unsigned int took)
{
	uint32_t lowest = c->depth > b->outer ? c->depth - b->outer : 0, known = tp_compact_known(c, lowest, c->depth);
	struct spi_thread_count *count = c->record ? &c->record->count : NULL;

	c->depth += b->entries;
	c->depth = c->depth > b->exits ? c->depth - b->exits : 0;
	tp_compact_set_apart(c, lowest, c->depth, !(took & TP_TOOK_ONE));
	c->taken += b->words;
	c->seq++;
	if (took == TP_TOOK_ONE)
		c->low = c->depth;
	else if (lowest < c->low)
		c->low = lowest;
	if (!count)
		return;
	if (took & TP_TOOK_ONE) {
		__atomic_fetch_add(&count->entries, b->entries, __ATOMIC_RELAXED);
		__atomic_fetch_add(&count->exits, b->exits - b->outer + known + missed_made_up(c, count), __ATOMIC_RELAXED);
	} else if (took & TP_TOOK_LOST) {
		__atomic_fetch_add(&count->lost_entries, b->entries, __ATOMIC_RELAXED);
		__atomic_fetch_add(&count->lost_exits, known, __ATOMIC_RELAXED);
		c->missed += known;
	}
}

/*
 * The calls that were open have been ended (tp_compact_detached()). Most return later, and what records may go on for a
 * moment: were these exits written, a reader would take the calls for open again, and those that never return would stay so.
 */
static int batch_is_over(const struct tp_compact_thread *c, const struct batch *b)
{
	return __atomic_load_n(&tp_compact_over, __ATOMIC_RELAXED) || (c->ended && !b->entries);
}

static void batch_drop(struct tp_compact_thread *c, const struct batch *b)
{
	batch_account(c, b, 0);
	c->seq--;		/* nobody is to miss it */
}

/* One event: 1 when there may be more, 0 at the end or when the rest is to be kept. */
static int write_one(struct tp_compact_thread *c, struct spi_thread *t, uint32_t used, enum tp_flush how, struct batch *b)
{
	uint32_t words = __atomic_load_n(&chunk, __ATOMIC_RELAXED), end = used - c->taken > words ? c->taken + words : used;
	tp_reader *reader = tp_read_lock(t);
	const int is_heard = tp_compact_listeners();
	int must = how >= TP_FLUSH_MUST, last = how == TP_FLUSH_LAST || how == TP_FLUSH_END;
	unsigned int took = 0;

	batch_pack(c, c->taken, end, must, is_heard && !tp_compact_over, b);
	if (spi_unlikely(batch_is_over(c, b))) {
		tp_read_unlock(reader);
		batch_drop(c, b);
		return b->words && c->taken < used;
	}
	if (is_heard && b->size)
		took = batch_write(c, head_fill(c, b, last && c->taken + b->words == used ? TP_BATCH_END : 0));
	tp_read_unlock(reader);
	if (!b->words)
		return 0;
	if ((took & TP_TOOK_LARGE) && words > CHUNK_LEAST) {
		__atomic_store_n(&chunk, words / 2, __ATOMIC_RELAXED);
		if (!(took & TP_TOOK_ONE))
			return 1;
	}
	if (!(took & TP_TOOK_ONE)) {
		if ((took & TP_TOOK_WAIT) && !must && used < TP_COMPACT_ROOM / 2)
			return 0;
	}
	batch_account(c, b, took);
	c->ended = 0;
	return c->taken < used;
}

void tp_compact_write(struct tp_compact_thread *c, enum tp_flush how)
{
	uint32_t used = __atomic_load_n(&c->used, __ATOMIC_ACQUIRE);
	struct spi_thread *t = &spi_thread;
	struct batch b;

	b.end_tick = tp_clock_pair(&b.end_ns);
	while (c->taken < used && write_one(c, t, used, how, &b))
		;
	if (how == TP_FLUSH_OTHER || how == TP_FLUSH_CLOSE)
		return;
	c->flushes++;
	if (c->taken < used) {
		/* kept, or waiting for a word: the interrupted code goes on when its handler returns */
		if (how < TP_FLUSH_MUST) {
			c->soft = used + TP_COMPACT_BATCH < TP_COMPACT_ROOM ? used + TP_COMPACT_BATCH : TP_COMPACT_ROOM;
			c->limit = tp_compact_tsc ? c->soft : 0;
			return;
		}
	}
	memset(c->words, 0, used * sizeof(c->words[0]));
	c->taken = 0;
	c->begin_tick = b.end_tick;
	c->begin_ns = b.end_ns;
	c->high = (uint32_t) (b.end_tick >> 32);
	c->soft = TP_COMPACT_BATCH;
	c->limit = tp_compact_tsc ? c->soft : 0;
	spi_barrier();
	c->used = 0;
}

/*
 * An empty batch that says so. Readers know the calls, and when; who has the exits in their records (those that the
 * thread that ends writes for itself) has nothing open.
 */
void tp_compact_write_end(struct tp_compact_thread *c)
{
	struct spi_thread_count *count = c->record ? &c->record->count : NULL;
	struct batch b = { .size = 0 };
	unsigned int took = 0;
	tp_reader *reader;

	if (!c->depth || c->ended || tp_compact_over)
		return;
	b.end_tick = tp_clock_pair(&b.end_ns);
	reader = tp_read_lock(&spi_thread);
	for (unsigned int i = 0; i < END_TRIES && tp_compact_listeners() && !(took & TP_TOOK_ONE) &&
			(!i || (took & TP_TOOK_WAIT)); i++)
		took = batch_write(c, head_fill(c, &b, TP_BATCH_END));
	tp_read_unlock(reader);
	c->seq++;
	if (count && (took & TP_TOOK_ONE))
		__atomic_fetch_add(&count->exits, tp_compact_known(c, 0, c->depth) + missed_made_up(c, count), __ATOMIC_RELAXED);
	else if (count && (took & TP_TOOK_LOST))
		__atomic_fetch_add(&count->lost_exits, tp_compact_known(c, 0, c->depth), __ATOMIC_RELAXED);
}
