/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Compact records: what the files of this room share.
 *
 * A thread writes 8 bytes for a call's entry and 8 for its exit into a buffer of
 * its own; when it is full it goes into the ring as one event (format.h).
 *
 * Who may race whom. `used` and the words are written by the thread alone, its
 * signal handlers included: a word is claimed by one instruction that adds to
 * `used`, and is 0 until it is written. Everything below `lock` belongs to who
 * holds that: the thread, when it flushes, or another one that empties the buffer of
 * a thread that rests. That one reads words from `taken` up to the first that is
 * still 0 and moves `taken`; only the thread itself begins again at 0, and only when
 * nothing is left. On x86 a word that is seen was written as a whole (A).
 */
#ifndef SPI_TP_COMPACT_H
#define SPI_TP_COMPACT_H

#include "liblttng-spi/arch/arch.h"
#include "tp/base/format.h"
#include "tp/record/record.h"

#define TP_COMPACT_BATCH	1024u	/* words after which a thread flushes */
#define TP_COMPACT_ROOM		4096u	/* words, when the ring is full or a handler found a record half made */
#define TP_COMPACT_SPARE	128u	/* for handlers that interrupted one another between looking and claiming */
#define TP_COMPACT_LEVELS	65536u	/* calls open in a thread of which it is known whether readers know them */
#define TP_SITE_MAX		(1u << 22)	/* numbers */
#define TP_COMPACT_PACKED	(TP_COMPACT_BATCH * TP_PACKED_MOST + 8u)

/* A word: ticks (32), kind (2), number (30). */
enum tp_kind {
	TP_KIND_ENTRY = 0,
	TP_KIND_EXIT,		/* SPI_WORD_EXIT */
	TP_KIND_ENTRY_AT,	/* the next word is the call site */
	TP_KIND_LEFT,		/* the next word is enum spi_left + 1 */
};
#define TP_WORD_SECOND	(UINT64_C(1) << 63)	/* set in a second word: no number is that large */
#define TP_WORD(number, kind)	((uint64_t) (number) << 34 | (uint64_t) (kind) << 32)
#define TP_WORD_NUMBER(word)	((uint32_t) ((word) >> 34))
#define TP_WORD_KIND(word)	((uint32_t) ((word) >> 32) & 3)

/* A batch before its data: format.h, in the fields' order. */
struct tp_compact_head {
	uint64_t begin_tick, begin_ns, end_tick, end_ns, process;
	uint32_t tid, seq, depth, low, flags, words;
};

/* struct spi_words to the agent. */
struct tp_compact_thread {
	uint32_t used;		/* words claimed */
	uint32_t limit;		/* `used` from which on the way is the slow one; 0: always */
	uint32_t high;		/* upper half of the tick that all words share */
	uint32_t tid;
	struct spi_thread_record *record;	/* the thread's counters; NULL: it ended */
	struct tp_compact_thread *next;		/* of all there are */
	uint32_t in_use;
	uint32_t soft;		/* the same as `limit`, for the slow way */
	uint32_t closed;	/* the process ended, or executes another program: nothing more is written */
	uint32_t flushing;	/* the thread itself does; told to handlers of faults, which cannot be blocked */

	uint32_t lock;		/* ---- guards what follows; nests inside nothing, and is never waited for in the thread */
	uint32_t taken;		/* words that are in the trace, or lost */
	uint32_t seq, depth, low;
	uint32_t flushes;	/* by the thread itself; the flusher looks whether it moves */
	uint32_t flushes_seen;	/* the flusher's */
	uint64_t begin_tick, begin_ns;
	uint32_t missed;	/* calls recorded whose exits were in batches lost since the latest one written: readers make up for them */
	uint32_t ended;		/* what is open of `depth` has its exits in the trace, and nothing was entered since */
	uint64_t reserved[3];
	uint64_t words[TP_COMPACT_ROOM + TP_COMPACT_SPARE];
	uint32_t open[TP_COMPACT_BATCH + 1];	/* packing: calls that the batch has opened; batch_pack() */
	/* A bit for each call that is open, the outermost first. 1: no reader knows it, or has its exit already */
	uint64_t apart[TP_COMPACT_LEVELS / 64];
	struct tp_compact_head head;		/* with `packed` one event's bytes */
	uint8_t packed[TP_COMPACT_PACKED];
};
_Static_assert(offsetof(struct tp_compact_thread, packed) - offsetof(struct tp_compact_thread, head) ==
	5 * sizeof(uint64_t) + 6 * sizeof(uint32_t), "one run of bytes");
_Static_assert(offsetof(struct tp_compact_thread, words) == offsetof(struct spi_words, words), "struct spi_words");

SPI_INLINE struct tp_compact_thread *tp_compact_of(const struct spi_thread *t)
{
	return (struct tp_compact_thread *) t->words;
}

/*
 * spi_point.payload of a point with compact records, begins with its word; found by its number too. Never freed. Who
 * records it is part of a number, as it is described once, and then stands for whatever is recorded
 * with it: where that changes the point gets another number.
 */
struct tp_compact_point {
	uint64_t word;		/* TP_WORD(number, 0) */
	struct spi_point *point;
	const char *tags;	/* of the rules by name that record it; NULL: it is a tree's */
	uint32_t trees;		/* those with a tag that do */
	uint16_t is_words;	/* the first one: the point had SPI_POINT_WORDS */
	uint16_t is_fresh;	/* the first one of a call site: no tree has recorded it yet */
	struct tp_compact_point *first, *next;	/* of the same point */
};

extern SPI_HIDDEN int tp_compact_tsc;		/* ticks are the TSC's, otherwise nanoseconds */

/* ---- compact.c: the path of a call ---- */
SPI_HIDDEN void tp_compact_attach(struct spi_point *point, struct tp_compact_point *cp);

/* ---- site.c: numbers, events, binding ---- */
extern SPI_HIDDEN const struct tp_event *const tp_compact_calls;
extern SPI_HIDDEN uint8_t tp_site_seen[];	/* by number: the generation in which it was described last */
extern SPI_HIDDEN uint8_t tp_site_generation;
/* The two events are registered. NULL, or why not. And a point's number: NULL, there is none left. site.c */
SPI_HIDDEN const char *tp_compact_ready(void);
SPI_HIDDEN struct tp_compact_point *tp_compact_number_take(void);
SPI_HIDDEN int tp_compact_bind(struct spi_point **points, unsigned int n, const char **errors);
SPI_HIDDEN int tp_compact_prepare(struct spi_object *object, const volatile int **gate, const char **why);
/* One point, whose object was prepared: any thread, any state. Its entry is left to the caller. 0 or -ENOMEM. */
SPI_HIDDEN int tp_compact_bind_one(struct spi_point *point);
SPI_HIDDEN void tp_site_describe(struct spi_thread *t, uint32_t number);
SPI_HIDDEN void tp_site_forget_all(void);	/* describe every number again before its next use */
SPI_HIDDEN void tp_compact_tags(const char *tags);
SPI_HIDDEN const char *tp_compact_tags_all(void);
SPI_HIDDEN int tp_compact_tagged(void);		/* some rules have tags */
SPI_HIDDEN void tp_compact_changed(struct spi_point *point);	/* other trees record it */
SPI_HIDDEN void tp_compact_retag(struct spi_point *point, const char *tags);	/* other rules by name do */
/* The point's number for calls that these trees record. NULL: no more numbers. Any thread, in any state. */
SPI_HIDDEN const struct tp_compact_point *tp_compact_number(struct spi_point *point, uint32_t trees);

/* ---- batch.c ---- */
enum tp_flush {
	TP_FLUSH_USUAL,
	TP_FLUSH_LAST,		/* the thread ends */
	TP_FLUSH_OTHER,		/* by another thread */
	TP_FLUSH_MUST,		/* what finds no room is lost */
	TP_FLUSH_END,		/* both */
	TP_FLUSH_CLOSE,		/* by another thread, at the end of the process: what it is just writing is lost */
};
/* Write what there is; c->lock is held. */
SPI_HIDDEN void tp_compact_write(struct tp_compact_thread *c, enum tp_flush how);
/* And that its open calls end here; c->lock is held. */
SPI_HIDDEN void tp_compact_write_end(struct tp_compact_thread *c);
/* Of the open calls, the outermost being 0, from `from` on and before `to`: how many readers know, and whether they do. */
SPI_HIDDEN uint32_t tp_compact_known(const struct tp_compact_thread *c, uint32_t from, uint32_t to);
SPI_HIDDEN void tp_compact_set_apart(struct tp_compact_thread *c, uint32_t from, uint32_t to, int apart);

/* ---- listen.c ---- */
/* Does anybody record batches? If others than before, numbers are described again. Inside a read-side section. */
SPI_HIDDEN int tp_compact_listeners(void);
SPI_HIDDEN void tp_compact_unheard(void);	/* nobody does */
SPI_HIDDEN int tp_compact_is_heard(struct spi_thread *t);	/* somebody records batches now */
SPI_HIDDEN void tp_compact_expect_cut(void);		/* what is written from now on may be in another chunk */
SPI_HIDDEN void tp_compact_written(uint32_t bytes);	/* batches are so much longer */

/* ---- flusher.c ---- */
extern SPI_HIDDEN uint64_t tp_compact_process;	/* format.h: `process` */
extern SPI_HIDDEN int tp_compact_started;
SPI_HIDDEN int tp_compact_start(void);
SPI_HIDDEN void tp_compact_attached(void);
SPI_HIDDEN void tp_flusher_child_begins(void);
/* One thread at a time looks through all buffers. -1: it was not its turn within so many milliseconds. */
SPI_HIDDEN int tp_pass_enter(unsigned int tries);
SPI_HIDDEN void tp_pass_leave(void);
SPI_HIDDEN void tp_wait_us(long us);

/* ---- flush.c: threads ---- */
SPI_HIDDEN void tp_pass(int all);		/* write what rests; all: also where the thread itself writes */
SPI_HIDDEN struct tp_compact_thread *tp_compact_begin(struct spi_thread *t);	/* signals blocked. NULL: no memory */
SPI_HIDDEN void tp_compact_flush(struct tp_compact_thread *c, enum tp_flush how);	/* the calling thread's; signals blocked */
SPI_HIDDEN void tp_compact_flush_all(void);
/* The process ends, or executes another program: everybody's records, and that their calls are over. */
SPI_HIDDEN void tp_compact_close(int is_end);
/* The same, but everybody goes on. is_all: nothing is recorded any more, until tp_compact_attached(). */
SPI_HIDDEN void tp_compact_detached(int is_all);
extern SPI_HIDDEN uint32_t tp_compact_over;	/* words are exits of calls that were ended, or come too late */
SPI_HIDDEN void tp_compact_open(void);		/* it goes on after all */
SPI_HIDDEN void tp_compact_thread_end(struct spi_thread *t);
SPI_HIDDEN void tp_compact_fork_before(void);
SPI_HIDDEN void tp_compact_fork_parent(void);
SPI_HIDDEN void tp_compact_fork_child(void);
SPI_HIDDEN void tp_compact_child_begins(void);

SPI_INLINE int tp_compact_trylock(struct tp_compact_thread *c)
{
	return !__atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQUIRE);
}

SPI_INLINE void tp_compact_unlock(struct tp_compact_thread *c)
{
	__atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);
}

#endif /* SPI_TP_COMPACT_H */
