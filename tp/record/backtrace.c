/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Entries with a backtrace. A function that a rule with backtraces ever asked for has two entry events of one name
 * (describe/backtrace.c), and a session that records the name has rules on both. It gets one of the two:
 *
 *	a session whose filter asks for a rule by its tag ($app.spi:rules): the one with a backtrace, if that rule asks
 *		for backtraces
 *	any other session: the one with a backtrace, if a rule without a tag asks for backtraces, and, where the process
 *		belongs to a run of the front end's, the session is the run's
 *
 * The stack is walked once a call, and only for a session that takes the record.
 */
#include "liblttng-spi/base/base.h"
#include "tp/record/record.h"

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
int tp_backtrace_is_for(struct tp_shot *shot, const struct spi_point *point, const struct lttng_ust_event_common *event,
	const struct lttng_ust_channel_buffer *channel)
{
	const struct spi_backtraces *b = __atomic_load_n(&point->backtraces, __ATOMIC_ACQUIRE);
	const char *tags;

	if (!b || !__atomic_load_n(&b->frames, __ATOMIC_ACQUIRE))
		return 0;
	tags = __atomic_load_n(&b->tags, __ATOMIC_ACQUIRE);
	if (CMM_ACCESS_ONCE(event->eval_filter) && !filter_takes(shot, event, ""))
		return tags && *tags && filter_takes(shot, event, tags);
	return b->untagged && (!*tp_runs_name() || tp_run_is_own(channel->parent->session));
}

/* Behind what the program has recorded. Returns the record's length. */
static uint32_t addresses_put(const struct spi_point *point, const struct spi_frame *frame, uint8_t *record, uint32_t at)
{
	uint32_t most = __atomic_load_n(&point->backtraces->frames, __ATOMIC_RELAXED), n;
	uint64_t addresses[SPI_BACKTRACE_MOST];
	enum spi_stack_end end;

	n = tp_core->stack_callers(frame, addresses, most < SPI_BACKTRACE_MOST ? most : SPI_BACKTRACE_MOST, &end);
	record[at] = (uint8_t) end;
	__builtin_memcpy(record + at + 1, &n, 4);
	__builtin_memcpy(record + at + 5, addresses, n * sizeof(*addresses));
	return at + 5 + n * (uint32_t) sizeof(*addresses);
}

__attribute__((noinline)) void tp_backtrace_offer(struct spi_thread *t, const struct tp_entry *entry,
	struct tp_due_set *heard)
{
	const struct tp_backtrace *b = entry->tp->backtrace;
	const struct spi_point *point = entry->tp->point;
	uint8_t record[b->program->length + TP_SLOP + TP_BACKTRACE_MOST];
	struct tp_shot shot = { .event = &b->event, .record = record };
	const uint32_t length = tp_serialise(b->program, entry->frame, entry->vec, entry->stride, record);
	struct spi_thread_count *count = tp_count(t);

	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&b->event); probe && probe->func; probe++) {
		const struct lttng_ust_event_common *event = probe->data;
		struct lttng_ust_event_recorder *recorder;
		int error = -ENOBUFS;

		if (probe->func != tp_backtrace_mark || event->type != LTTNG_UST_EVENT_TYPE_RECORDER)
			continue;
		recorder = event->child;
		if (!tp_recorder_takes(&shot, event, recorder->chan) || !tp_backtrace_is_for(&shot, point, event, recorder->chan))
			continue;
		if (!shot.length)
			shot.length = addresses_put(point, entry->frame, record, length);
		if (!spi_thread_owes(t) || !tp_debts_block(t, recorder->chan))
			error = tp_record(&b->event, record, shot.length, recorder);
		if (!error)
			tp_due_heard(heard, recorder->chan);
		count->lost_entries += (unsigned int) tp_discarded(error);
	}
}

/* From now on its calls go all the way: the fast one has one event. */
void tp_backtrace_attach(struct spi_point *point, const struct tp_backtrace *backtrace)
{
	struct tp_point *tp = point->payload;

	__atomic_store_n(&tp->backtrace, backtrace, __ATOMIC_RELEASE);
	__atomic_store_n(&point->entry, tp_call_entry, __ATOMIC_RELEASE);
}
