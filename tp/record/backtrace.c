/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Entries with a backtrace. A function that a rule with backtraces ever asked for has two entry events of one name
 * (describe/backtrace.c), and a session that records the name has rules on both. It gets one of the two:
 *
 *	a session whose filter asks for a rule by its tag ($app.spi:rules): the one with a backtrace, if that rule
 *		asks for backtraces
 *	any other session: the one with a backtrace, if a rule without a tag asks for backtraces, and, where the
 *		process belongs to a run of the front end's, the session is the run's
 *
 * Rules may ask for several numbers of frames: a session has the largest one that one of its rules asks for. The stack
 * is walked once a call, as far as the largest of all, and only where a session takes the record.
 */
#include "liblttng-spi/base/base.h"
#include "tp/record/record.h"

/*
 * By one of the session's rules that have a filter. Where one has none, too, lttng-ust does not ask the others, but
 * they are there.
 */
static int filter_takes(struct tp_shot *shot, const struct lttng_ust_event_common *event, const char *tags)
{
	const char *was = tp_context_text;
	int takes;

	tp_context_text = tags;
	takes = tp_filter_accepts(shot, event);
	tp_context_text = was;
	return takes;
}

/* Inside a read-side section. */
uint32_t tp_backtrace_frames(struct tp_shot *shot, const struct spi_point *point,
	const struct lttng_ust_event_common *event, const struct lttng_ust_channel_buffer *channel)
{
	const struct spi_backtraces *b = __atomic_load_n(&point->backtraces, __ATOMIC_ACQUIRE);
	int is_open, is_runs = -1;	/* it takes the event whatever the tags */
	uint32_t most = 0;

	if (!b || !__atomic_load_n(&b->frames, __ATOMIC_ACQUIRE))
		return 0;
	is_open = filter_takes(shot, event, "");
	for (unsigned int i = 0; i < SPI_BACKTRACE_WANTS; i++) {
		const uint32_t frames = __atomic_load_n(&b->wants[i].frames, __ATOMIC_ACQUIRE);
		const char *tags = __atomic_load_n(&b->wants[i].tags, __ATOMIC_ACQUIRE);

		if (frames <= most)
			continue;
		if (b->wants[i].untagged && is_runs < 0)
			is_runs = (is_open || !CMM_ACCESS_ONCE(event->eval_filter)) &&
				(!*tp_runs_name() || tp_run_is_own(channel->parent->session));
		if ((b->wants[i].untagged && is_runs) || (tags && *tags && !is_open && filter_takes(shot, event, tags)))
			most = frames;
	}
	return most;
}

struct backtrace {
	uint32_t count;
	enum spi_stack_end end;
	uint64_t addresses[SPI_BACKTRACE_MOST];
};

static void walk(const struct spi_point *point, const struct spi_frame *frame, struct backtrace *b)
{
	uint32_t most = __atomic_load_n(&point->backtraces->frames, __ATOMIC_RELAXED);

	most = most < SPI_BACKTRACE_MOST ? most : SPI_BACKTRACE_MOST;
	b->count = tp_core->stack_callers(frame, b->addresses, most, &b->end);
}

/* Behind what the program has recorded, so many frames at most. Returns the record's length. */
static uint32_t backtrace_put(const struct backtrace *b, uint32_t frames, uint8_t *record, uint32_t at)
{
	const uint32_t n = b->count < frames ? b->count : frames;

	record[at] = b->count > frames ? SPI_STACK_LIMIT : (uint8_t) b->end;
	__builtin_memcpy(record + at + 1, &n, 4);
	__builtin_memcpy(record + at + 5, b->addresses, n * sizeof(b->addresses[0]));
	return at + 5 + n * (uint32_t) sizeof(b->addresses[0]);
}

#define STACK_WALK	(2 * TP_BACKTRACE_MOST + 2048u)	/* bytes of the stack, beside what any record takes */

/* Near the end of the thread's stack there is no room for both; the call counts as lost. */
static int is_short(const struct spi_thread *t, const struct tp_entry *entry)
{
	const uint64_t left = (uint64_t) &entry->frame->ra - t->stack_end;

	if (spi_likely(left >= SPI_STACK_LEAST + STACK_WALK + entry->tp->backtrace->program->length))
		return 0;
	spi_call_missed(SPI_LOST_STACK);
	return 1;
}

static __attribute__((noinline)) void offer(struct spi_thread *t, const struct tp_entry *entry,
	struct tp_due_set *heard)
{
	const struct tp_backtrace *made = entry->tp->backtrace;
	const struct spi_point *point = entry->tp->point;
	uint8_t record[made->program->length + TP_SLOP + TP_BACKTRACE_MOST];
	struct tp_shot shot = { .event = &made->event, .record = record };
	const uint32_t length = tp_serialise(made->program, entry->frame, entry->vec, entry->stride, record);
	struct spi_thread_count *count = tp_count(t);
	struct backtrace b;
	int is_walked = 0;

	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&made->event); probe && probe->func; probe++) {
		const struct lttng_ust_event_common *event = probe->data;
		struct lttng_ust_event_recorder *recorder;
		uint32_t frames;
		int error = -ENOBUFS;

		if (probe->func != tp_backtrace_mark || event->type != LTTNG_UST_EVENT_TYPE_RECORDER)
			continue;
		recorder = event->child;
		frames = tp_recorder_takes(&shot, event, recorder->chan) ?
			tp_backtrace_frames(&shot, point, event, recorder->chan) : 0;
		if (!frames)
			continue;
		if (!is_walked++)
			walk(point, entry->frame, &b);
		shot.length = backtrace_put(&b, frames, record, length);
		if (!spi_thread_owes(t) || !tp_debts_block(t, recorder->chan))
			error = tp_record(&made->event, record, shot.length, recorder);
		if (!error)
			tp_due_heard(heard, recorder->chan);
		count->lost_entries += (unsigned int) tp_discarded(error);
	}
}

void tp_backtrace_offer(struct spi_thread *t, const struct tp_entry *entry, struct tp_due_set *heard)
{
	const struct spi_backtraces *b = __atomic_load_n(&entry->tp->point->backtraces, __ATOMIC_ACQUIRE);

	if (b && __atomic_load_n(&b->frames, __ATOMIC_RELAXED) && !is_short(t, entry))
		offer(t, entry, heard);
}

/* From now on its calls go all the way: the fast one has one event. */
void tp_backtrace_attach(struct spi_point *point, const struct tp_backtrace *backtrace)
{
	struct tp_point *tp = point->payload;

	__atomic_store_n(&tp->backtrace, backtrace, __ATOMIC_RELEASE);
	__atomic_store_n(spi_point_record(point), tp_call_entry, __ATOMIC_RELEASE);
}
