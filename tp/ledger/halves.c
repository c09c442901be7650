/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Channels that record one of a call's two events. LTTng makes and removes the two by two commands, or one after the
 * other, and calls come in between. So a half counts as wanted once it has lasted. A channel is an address to compare.
 *
 * Entries of a tree go to channels that take its exits. lttng-ust switches an event on a moment before its filter, and
 * then all trees' calls pass: where the exits have a filter in the channel, the entries wait for theirs.
 *
 * Entries of a function are recorded without exits, too. A call that is under way when LTTng removes the exits has lost
 * its exit, unless the channel has had no exits of the function for a while, or ever.
 *
 * Exits of a function are recorded without entries after two seconds of that; at once in a program that has just begun, as
 * the program had all rules before, and by then no entry in the channel.
 */
#include "liblttng-spi/base/base.h"
#include "tp/ledger/ledger.h"

/* ---- a tree's entries ---- */

const void *tp_pair_latest;

__attribute__((noinline)) void tp_pair_seen(const void *channel)
{
	tp_pair_latest = channel;
	tp_function_look();
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
	return 0;
}

/* ---- a function's entries ---- */

#define WHILE_NS	UINT64_C(5000000000)

/* Threads may overwrite each other's place: then the next exit notes the channel. */
__attribute__((noinline)) void tp_exit_note(struct tp_point *tp, const void *channel)
{
	for (unsigned int i = 0; i < 2; i++)
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

	for (unsigned int i = 0; i < 2; i++)
		if (tp->paired[i].channel == channel) {
			if (!tp->paired[i].missing)
				tp->paired[i].missing = now;
			return now - tp->paired[i].missing < WHILE_NS;
		}
	return 0;
}

/* ---- a function's exits ---- */

#define ALONE_NS UINT64_C(2000000000)	/* two commands of a client are some ten milliseconds apart, on a busy machine a second */

static uint64_t at_once_until, forked_at;	/* a child's channels may have the addresses of its parent's */

void tp_alone_init(void)
{
	if (tp_core->is_early)
		at_once_until = tp_clock_now() + ALONE_NS;
}

void tp_alone_forked(void)
{
	at_once_until = 0;
	forked_at = tp_clock_now();
}

/* Inside a read-side section. Threads may overwrite each other's place: then the while begins anew. */
static int alone_lasts(struct tp_point *tp, const void *channel)
{
	const uint64_t now = tp_clock_now();
	int was_paired = 0;

	for (unsigned int i = 0; i < 2; i++)
		if (tp->paired[i].channel == channel) {
			tp->paired[i].channel = NULL;
			was_paired = 1;
		}
	for (unsigned int i = 0; i < 2; i++)
		if (tp->alone[i].channel == channel) {
			if (was_paired || tp->alone[i].since < forked_at)
				tp->alone[i].since = now;
			return now - tp->alone[i].since >= ALONE_NS;
		}
	if (!was_paired && now < at_once_until)
		return 1;
	tp->alone[1] = tp->alone[0];
	tp->alone[0].since = now;
	spi_barrier();
	tp->alone[0].channel = channel;
	return 0;
}

int tp_exit_is_alone(struct tp_point *tp, const void *channel)
{
	if (tp->point->flags & SPI_POINT_TREE)
		return 0;
	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&tp->entry); probe && probe->func; probe++) {
		const struct lttng_ust_event_common *event = probe->data;

		if (tp_channel_of(probe) == channel && CMM_ACCESS_ONCE(event->enabled))
			return 0;
	}
	return alone_lasts(tp, channel);
}
