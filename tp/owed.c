/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Debts. When a ring is full at a call's exit, its entry is in the trace already;
 * leaving the exit out would unbalance the thread's stack for every reader. So
 * the finished record is kept, and written before the thread's next record in
 * that channel; until that succeeds the thread's new calls are lost there as a
 * whole. A thread therefore never owes more than its depth of recorded calls.
 *
 * The records stand one after the other in chunks, in the order of the exits, so
 * inner calls come first. Signal handlers may add while the interrupted code
 * adds or flushes: space is claimed by one atomic addition, a record counts from
 * the moment its `state` says so, and handlers never flush.
 *
 * Not kept in the return slots: those go as soon as the call is over, so that the
 * order of slots stays the order of the calls.
 */
#include <string.h>
#include <sys/syscall.h>
#include "tp/owed.h"

#define CHUNK_BYTES	(64u << 10)
#define END_TRIES	8u		/* when a thread ends, with the processor given away between them */
#define BLOCKED_MAX	8u

enum owed_state { OWED_CLAIMED = 0, OWED_WAITING, OWED_DONE };

struct owed {
	uint32_t size;			/* with this header, a multiple of 8 */
	uint32_t state;			/* enum owed_state */
	const struct tp_event *event;
	const void *channel;
	uint32_t length;
	uint32_t reserved;
	uint8_t record[];
};

struct chunk {
	struct chunk *next;
	uint64_t used;			/* bytes of data claimed */
	uint64_t paid;			/* bytes at the start that need no look any more */
	uint8_t data[CHUNK_BYTES];
};

struct tp_thread {
	struct chunk *first, *last;
	struct {
		const void *channel;
		int64_t waiting;
	} blocked[BLOCKED_MAX];		/* channels that records wait for */
	int64_t blocked_others;		/* records whose channel found no place above */
	int64_t waiting;		/* all of them; while there are some the thread's word has SPI_THREAD_OWES */
	struct tp_thread *next_free;
};

static struct tp_thread *free_threads;	/* of threads that ended */

static struct tp_thread *thread_get(struct spi_thread *t)
{
	struct tp_thread *mine = t->payload[TP_WORD_THREAD], *none = NULL;

	if (mine)
		return mine;
	mine = __atomic_exchange_n(&free_threads, NULL, __ATOMIC_ACQ_REL);
	if (mine) {
		struct tp_thread *rest = mine->next_free;

		/* give the rest of the list back, should nobody have begun another meanwhile */
		if (rest)
			__atomic_compare_exchange_n(&free_threads, &none, rest, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
		mine->next_free = NULL;
	} else {
		mine = tp_core->alloc(sizeof(*mine));
		if (!mine)
			return NULL;
	}
	none = NULL;
	/* a handler may have come first; then this one is left over */
	if (!__atomic_compare_exchange_n((struct tp_thread **) &t->payload[TP_WORD_THREAD], &none, mine, 0,
		    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		mine = none;
	return mine;
}

/* ---- which channels are waited for ---- */

static void blocked_change(struct tp_thread *mine, const void *channel, int64_t by)
{
	for (unsigned int i = 0; i < BLOCKED_MAX; i++) {
		const void *none = NULL;

		if (mine->blocked[i].channel == channel ||
			(by > 0 && __atomic_compare_exchange_n(&mine->blocked[i].channel, &none, channel, 0,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED))) {
			__atomic_fetch_add(&mine->blocked[i].waiting, by, __ATOMIC_RELAXED);
			return;
		}
	}
	__atomic_fetch_add(&mine->blocked_others, by, __ATOMIC_RELAXED);
}

int tp_owed_blocks(struct spi_thread *t, const void *channel)
{
	const struct tp_thread *mine = t->payload[TP_WORD_THREAD];

	if (!mine)
		return 0;
	if (mine->blocked_others)
		return 1;
	for (unsigned int i = 0; i < BLOCKED_MAX; i++)
		if (mine->blocked[i].channel == channel && mine->blocked[i].waiting)
			return 1;
	return 0;
}

/*
 * A handler that adds in between has come and gone before the next line: it sets the word when it finds none waiting, and
 * what it has set is seen by who clears it.
 */
static void waiting_add(struct spi_thread *t, struct tp_thread *mine)
{
	__atomic_fetch_add(&mine->waiting, 1, __ATOMIC_RELAXED);
	spi_barrier();
	__atomic_fetch_or(&t->owed, SPI_THREAD_OWES, __ATOMIC_RELAXED);
}

static void waiting_sub(struct spi_thread *t, struct tp_thread *mine)
{
	if (__atomic_sub_fetch(&mine->waiting, 1, __ATOMIC_RELAXED))
		return;
	__atomic_fetch_and(&t->owed, ~SPI_THREAD_OWES, __ATOMIC_RELAXED);
	spi_barrier();
	if (mine->waiting)
		__atomic_fetch_or(&t->owed, SPI_THREAD_OWES, __ATOMIC_RELAXED);
}

/* ---- adding ---- */

static struct chunk *chunk_add(struct tp_thread *mine, struct chunk *after)
{
	struct chunk *fresh, *next = NULL;

	if (after && after->next)
		return after->next;
	fresh = tp_core->alloc(sizeof(*fresh));
	if (!fresh)
		return NULL;
	if (__atomic_compare_exchange_n(
		    after ? &after->next : &mine->first, &next, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return fresh;
	return next;
}

static struct owed *owed_claim(struct tp_thread *mine, uint32_t size)
{
	struct chunk *c = mine->last ? mine->last : mine->first;

	for (int tries = 0; tries < 1000; tries++) {
		uint64_t at;

		if (c && c->used + size <= CHUNK_BYTES) {
			at = __atomic_fetch_add(&c->used, size, __ATOMIC_RELAXED);
			if (at + size <= CHUNK_BYTES) {
				struct owed *o = (struct owed *) (c->data + at);

				o->size = size;
				o->state = OWED_CLAIMED;
				mine->last = c;
				return o;
			}
			__atomic_fetch_sub(&c->used, size, __ATOMIC_RELAXED);
		}
		c = chunk_add(mine, c);
		if (!c)
			return NULL;
	}
	return NULL;
}

void tp_owed_add(struct spi_thread *t, const struct tp_shot *shot, const void *channel)
{
	struct tp_thread *mine = thread_get(t);
	struct owed *o = mine ? owed_claim(mine, (uint32_t) ((sizeof(*o) + shot->length + 7) & ~7ul)) : NULL;

	if (!o) {
		tp_count(t)->lost_exits++;
		return;
	}
	o->event = shot->event;
	o->channel = channel;
	o->length = shot->length;
	memcpy(o->record, shot->record, shot->length);
	blocked_change(mine, channel, 1);
	waiting_add(t, mine);
	spi_barrier();
	o->state = OWED_WAITING;
}

/* The record at *at, and *at moved behind it; NULL at the end, or where a claim was left unfinished for good. */
static struct owed *owed_next(struct chunk *c, uint64_t *at)
{
	struct owed *o = (struct owed *) (c->data + *at);

	if (*at + sizeof(*o) > c->used || *at + sizeof(*o) > CHUNK_BYTES || o->size < sizeof(*o))
		return NULL;
	*at += o->size;
	return o;
}

/* ---- writing ---- */

/* 1: written; 0: no room yet; -1: nobody wants it any more, or the ring is switched off. */
static int owed_write(struct spi_thread *t, struct owed *o, const struct tp_as *as)
{
	struct lttng_ust_tracepoint_probe *probe;
	tp_reader *reader = tp_read_lock(t);
	int result = -1;

	for (probe = tp_probes(o->event); probe && probe->func; probe++) {
		struct lttng_ust_event_common *event = probe->data;
		struct lttng_ust_event_recorder *recorder;

		if (probe->func != tp_probe_mark || event->type != LTTNG_UST_EVENT_TYPE_RECORDER)
			continue;
		recorder = event->child;
		if (recorder->chan != o->channel)
			continue;
		if (tp_recorder_on(event, recorder->chan)) {
			int error = as ? tp_as_record(as, o->event, o->record, o->length, recorder, recorder->chan)
				       : tp_record(o->event, o->record, o->length, recorder, recorder->chan);

			result = !error ? 1 : tp_may_wait(error) ? 0 : -1;
		}
		break;
	}
	tp_read_unlock(reader);
	return result;
}

static void owed_done(struct spi_thread *t, struct tp_thread *mine, struct owed *o, int result)
{
	struct spi_thread_count *count = tp_count(t);

	if (result > 0) {
		count->exits++;
		count->owed_exits++;
	} else {
		count->lost_exits++;
	}
	o->state = OWED_DONE;
	blocked_change(mine, o->channel, -1);
	waiting_sub(t, mine);
}

/* All is paid: start again with empty chunks. What a handler adds meanwhile is left alone. */
static void thread_reset(struct spi_thread *t, struct tp_thread *mine)
{
	for (struct chunk *c = mine->first; c; c = c->next) {
		uint64_t used = c->used, at = 0;
		struct owed *o;

		while ((o = owed_next(c, &at)))
			if (o->state == OWED_WAITING)
				return;
		c->paid = 0;
		if (!__atomic_compare_exchange_n(&c->used, &used, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
	mine->last = mine->first;
	for (unsigned int i = 0; i < BLOCKED_MAX; i++)
		if (!mine->blocked[i].waiting)
			mine->blocked[i].channel = NULL;
}

/* Channels that were found full during one flush: what is owed to them next must keep its turn. */
struct full {
	const void *channel[BLOCKED_MAX];
	unsigned int n;
};

static int full_has(const struct full *full, const void *channel)
{
	for (unsigned int i = 0; i < full->n; i++)
		if (full->channel[i] == channel)
			return 1;
	return 0;
}

/* Add one: is there another that records wait for, and of which it is not known? */
static int full_add(struct full *full, const struct tp_thread *mine, const void *channel)
{
	if (full->n == BLOCKED_MAX)
		return 0;
	full->channel[full->n++] = channel;
	if (mine->blocked_others)
		return 1;
	for (unsigned int i = 0; i < BLOCKED_MAX; i++)
		if (mine->blocked[i].waiting && !full_has(full, mine->blocked[i].channel))
			return 1;
	return 0;
}

/* With one channel, as usual, this ends at the first record that finds no room: one try a call. */
static void thread_flush(struct spi_thread *t, struct tp_thread *mine)
{
	struct full full = { .n = 0 };

	for (struct chunk *c = mine->first; c; c = c->next) {
		uint64_t at = c->paid;
		struct owed *o;

		while ((o = owed_next(c, &at))) {
			int result;

			if (o->state == OWED_WAITING && !full_has(&full, o->channel)) {
				result = owed_write(t, o, NULL);
				if (result)
					owed_done(t, mine, o, result);
				else if (!full_add(&full, mine, o->channel))
					return;
			}
			if (!full.n && o->state == OWED_DONE)
				c->paid = at;
		}
	}
	if (!full.n)
		thread_reset(t, mine);
}

void tp_owed_flush(struct spi_thread *t)
{
	struct tp_thread *mine = t->payload[TP_WORD_THREAD];

	if (mine && t->busy <= 1)
		thread_flush(t, mine);
}

static void thread_forget(struct spi_thread *t, struct tp_thread *mine, int lost)
{
	for (struct chunk *c = mine->first; c; c = c->next) {
		struct owed *o;
		uint64_t at = 0;

		while ((o = owed_next(c, &at)))
			if (lost && o->state == OWED_WAITING)
				tp_count(t)->lost_exits++;
		c->used = c->paid = 0;
	}
	mine->last = mine->first;
	memset(mine->blocked, 0, sizeof(mine->blocked));
	mine->blocked_others = mine->waiting = 0;
	__atomic_fetch_and(&t->owed, ~SPI_THREAD_OWES, __ATOMIC_RELAXED);
}

/* Not libc's function, which may be traced. */
static void processor_yield(void)
{
	spi_raw3(SYS_sched_yield, 0, 0, 0);
}

void tp_owed_end(struct spi_thread *t)
{
	struct tp_thread *mine = t->payload[TP_WORD_THREAD], *head;

	if (!mine)
		return;
	for (unsigned int i = 0; spi_thread_owes(t) && i < END_TRIES; i++) {
		if (i)
			processor_yield();
		thread_flush(t, mine);
	}
	thread_forget(t, mine, 1);
	t->payload[TP_WORD_THREAD] = NULL;
	head = __atomic_load_n(&free_threads, __ATOMIC_RELAXED);
	do
		mine->next_free = head;
	while (!__atomic_compare_exchange_n(&free_threads, &head, mine, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

void tp_owed_other(const struct tp_as *as, struct tp_thread *thread, struct spi_thread_count *count)
{
	struct spi_thread *t = &spi_thread;

	for (struct chunk *c = thread->first; c; c = c->next) {
		uint64_t at = c->paid;
		struct owed *o;

		while ((o = owed_next(c, &at))) {
			int result = 0;

			if (o->state != OWED_WAITING)
				continue;
			for (unsigned int i = 0; !result && i < END_TRIES; i++) {
				if (i)
					processor_yield();
				result = owed_write(t, o, as);
			}
			count->exits += result > 0;
			count->owed_exits += result > 0;
			count->lost_exits += result <= 0;
			o->state = OWED_DONE;
		}
	}
}

void tp_owed_fork_child(struct spi_thread *t)
{
	struct tp_thread *mine = t->payload[TP_WORD_THREAD];

	if (mine && t->owed & SPI_THREAD_OWES)
		thread_forget(t, mine, 0);
}
