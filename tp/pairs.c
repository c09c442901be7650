/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Channels that record both ends of a tree's calls.
 *
 * Somebody may want entries only. But where exits were recorded a moment ago, and are not any more, the rule is being
 * switched off, and the event of the exits has gone first: then entries have ended, too. After a while it is taken
 * for what is wanted. A channel is an address to compare; another one that is given it later begins with that while.
 *
 * lttng-ust switches an event on a moment before its filter, microseconds, or milliseconds where its thread is preempted just then: all
 * trees' calls pass by a rule for one of them. Where the exits have a filter in that channel, the entries have one that is
 * not there yet.
 */
#include "tp/call.h"
#include "tp/function.h"

#define PAIRS_MAX	16u
#define WHILE_NS	UINT64_C(5000000000)

static struct {
	const void *channel;
	uint64_t missing;	/* since when its exits are; 0: they are not */
} pairs[PAIRS_MAX];
const void *tp_pair_latest;

/* Threads may overwrite each other's: then it is noted with the next call. */
__attribute__((noinline)) void tp_pair_seen(const void *channel)
{
	static uint32_t next;
	uint32_t i = 0;

	while (i < PAIRS_MAX && pairs[i].channel != channel && pairs[i].channel)
		i++;
	if (i == PAIRS_MAX)
		i = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % PAIRS_MAX;
	pairs[i].missing = 0;
	pairs[i].channel = channel;
	tp_pair_latest = channel;
	tp_function_look();
}

static int exits_ended_lately(const void *channel)
{
	uint64_t now = tp_clock_now();

	for (uint32_t i = 0; i < PAIRS_MAX; i++) {
		if (pairs[i].channel != channel)
			continue;
		if (tp_pair_latest == channel)
			tp_pair_latest = NULL;	/* so that it is noted when they come back */
		if (!pairs[i].missing)
			pairs[i].missing = now;
		return now - pairs[i].missing < WHILE_NS;
	}
	return 0;
}

int tp_pair_takes(const struct tp_point *tp, const struct lttng_ust_event_common *entry,
	const struct lttng_ust_channel_buffer *channel, int has_slot)
{
	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&tp->exit); probe && probe->func; probe++) {
		const struct lttng_ust_event_common *event = probe->data;

		if (probe->func != tp_probe_mark || event->type != LTTNG_UST_EVENT_TYPE_RECORDER ||
				((struct lttng_ust_event_recorder *) event->child)->chan != channel ||
				!tp_recorder_on(event, channel))
			continue;
		if (tp_pair_latest != channel)
			tp_pair_seen(channel);
		return has_slot && (CMM_ACCESS_ONCE(entry->eval_filter) || !CMM_ACCESS_ONCE(event->eval_filter));
	}
	return !exits_ended_lately(channel);
}
