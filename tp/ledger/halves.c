/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Channels that record one of a function's two events. Somebody may want just this one. But LTTng makes and removes
 * the two events by two commands, or one after the other, and calls come in between. So a half counts as wanted once
 * it has lasted for a while; a channel is an address to compare, and one that is given the same address later begins
 * anew.
 *
 * Entries of a tree without exits: where exits were recorded a moment ago, the rule is being switched off, so entries
 * end, too. lttng-ust also switches an event on a moment before its filter, and then all trees' calls pass: where the
 * exits have a filter in the channel, the entries wait for theirs.
 *
 * Entries of a function without exits: LTTng takes the two out one after the other. A call that is under way then has lost
 * its exit, unless the channel has had no exits of the function for a while, or ever.
 *
 * Exits of a function without entries: the while begins when the function was instrumented, where nobody has had an
 * entry since, otherwise with the first call that is met in that state. In a child the while begins when fork() has
 * returned at the earliest, and is twice as long for what was instrumented before: the daemon tells a new program of a
 * rule that is being made after all others. A program that was brought in before its main() had all rules then: no
 * while.
 */
#include "liblttng-spi/base/base.h"
#include "tp/ledger/ledger.h"

/* ---- a tree's entries ---- */

#define PAIRS_MAX	16u
#define WHILE_NS	UINT64_C(5000000000)

static struct {
	const void *channel;
	uint64_t missing;	/* since when its exits are; 0: they are not */
} pairs[PAIRS_MAX];
const void *tp_pair_latest;

/* Threads may overwrite each other's entry: then the next call notes the channel. */
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
	uint32_t i = 0;

	while (i < PAIRS_MAX && pairs[i].channel != channel)
		i++;
	if (i == PAIRS_MAX)
		return 0;
	if (tp_pair_latest == channel)
		tp_pair_latest = NULL;	/* a call notes the channel when its exits come back */
	if (!pairs[i].missing)
		pairs[i].missing = now;
	return now - pairs[i].missing < WHILE_NS;
}

/* Inside a read-side section. */
int tp_pair_takes(const struct tp_point *tp, const struct lttng_ust_event_common *entry,
	const struct lttng_ust_channel_buffer *channel, int has_slot)
{
	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&tp->exit); probe && probe->func; probe++) {
		const struct lttng_ust_event_common *exit = probe->data;

		if (tp_channel_of(probe) != channel || !tp_recorder_on(exit, channel))
			continue;
		if (tp_pair_latest != channel)
			tp_pair_seen(channel);
		return has_slot && (CMM_ACCESS_ONCE(entry->eval_filter) || !CMM_ACCESS_ONCE(exit->eval_filter));
	}
	return !exits_ended_lately(channel);
}

/* ---- a function's exits. For each function two channels are kept, the latest ---- */

static uint64_t at_once_until;	/* 0: the program was running when the module came */
static uint64_t forked_at;	/* a child's sessions begin anew, at addresses of its parent's, too */

void tp_alone_init(void)
{
	if (tp_core->alone_grace_ms)
		at_once_until = tp_clock_now() + tp_core->alone_grace_ms * UINT64_C(1000000);
}

void tp_alone_forked(void)
{
	forked_at = tp_clock_now();
}

/* The place of the channel, or else the one to be used for it: a free one, or the oldest. */
static unsigned int alone_place(const struct tp_point *tp, const void *channel)
{
	unsigned int i = 0, oldest = 0;

	for (; i < TP_ALONE_MAX && tp->alone[i].channel != channel; i++)
		if (!tp->alone[i].channel ||
				(tp->alone[oldest].channel && tp->alone[i].since < tp->alone[oldest].since))
			oldest = i;
	return i < TP_ALONE_MAX ? i : oldest;
}

/* Inside a read-side section. Threads may overwrite each other's place: then the while begins anew. */
int tp_alone_lasts(struct tp_point *tp, const void *channel)
{
	const uint64_t lasts = tp_core->alone_ms * UINT64_C(1000000);
	uint64_t now = tp_clock_now(), since;
	unsigned int i;

	if (!lasts || now < at_once_until)
		return 1;
	i = alone_place(tp, channel);
	since = tp->alone[i].since;
	if (tp->alone[i].channel != channel || since < forked_at) {
		tp->alone[i].channel = NULL;
		spi_barrier();
		since = CMM_ACCESS_ONCE(tp->alone_used) & TP_ALONE_FRESH ? tp->installed : now;
		since = since < forked_at ? forked_at : since;
		tp->alone[i].since = since;
		spi_barrier();
		tp->alone[i].channel = channel;
		__atomic_fetch_or(&tp->alone_used, TP_ALONE_KEPT, __ATOMIC_RELAXED);
	}
	return now - since >= (since == forked_at ? 2 * lasts : lasts);
}

/* ---- a function's entries ---- */

/* Threads may overwrite each other's place: then the next exit notes the channel. */
__attribute__((noinline)) void tp_exit_note(struct tp_point *tp, const void *channel)
{
	for (unsigned int i = 0; i < TP_ALONE_MAX; i++)
		if (tp->paired[i].channel == channel) {
			tp->paired[i].missing = 0;
			return;
		}
	tp->paired[1] = tp->paired[0];
	tp->paired[0].missing = 0;
	spi_barrier();
	tp->paired[0].channel = channel;
}

int tp_exit_ended_lately(struct tp_point *tp, const void *channel)
{
	uint64_t now = tp_clock_now();

	for (unsigned int i = 0; i < TP_ALONE_MAX; i++)
		if (tp->paired[i].channel == channel) {
			if (!tp->paired[i].missing)
				tp->paired[i].missing = now;
			return now - tp->paired[i].missing < WHILE_NS;
		}
	return 0;
}

/* These are about to be called, for the first time or again. */
void tp_alone_installed(struct spi_point **points, unsigned int n)
{
	uint64_t now = tp_clock_now();

	for (unsigned int i = 0; i < n; i++) {
		struct tp_point *tp = points[i]->payload;

		if (points[i]->said && !(points[i]->flags & SPI_POINT_COMPACT))
			points[i]->flags |= SPI_POINT_UNNAMED;	/* a session may not have been told */
		if (points[i]->flags & (SPI_POINT_TREE | SPI_POINT_COMPACT | SPI_POINT_ONE_EVENT))
			continue;
		tp->installed = now;
		spi_barrier();
		tp->alone_used |= TP_ALONE_FRESH;
	}
}

/* The channel takes entries, too. */
__attribute__((noinline)) void tp_alone_over(struct tp_point *tp, const void *channel)
{
	uint32_t used = 0;

	for (unsigned int i = 0; i < TP_ALONE_MAX; i++) {
		if (tp->alone[i].channel == channel)
			tp->alone[i].channel = NULL;
		used |= tp->alone[i].channel ? TP_ALONE_KEPT : 0;
	}
	tp->alone_used = used;
}
