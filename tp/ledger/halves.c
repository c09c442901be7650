/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Channels that record one of a call's two events. LTTng makes and removes the two by two commands, or one after the
 * other, and calls come in between. Exits without entries are not recorded. A channel is an address to compare.
 *
 * Entries of a tree go to channels that take its exits. lttng-ust switches an event on a moment before its filter, and
 * then all trees' calls pass: where the exits have a filter in the channel, the entries wait for theirs.
 *
 * Entries of a function are recorded without exits, too. A call that is under way when LTTng removes the exits has lost
 * its exit, unless the channel has had no exits of the function for a while, or ever.
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
