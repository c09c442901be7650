/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Exits of a rule that is for a function's two events at once (`spi:parse_*`), and is about to be switched off in one session, while
 * another one has the function, too.
 *
 * lttng-ust takes both events out of their tracepoints then, one right after the other, and calls that are
 * under way would have no exit. Which channel it will be is not known before. So the control thread keeps what is there: it enters a
 * read-side section of lttng-ust's RCU, and notes for each function the array of its exit's probes. As long as it is in that
 * section lttng-ust frees nothing of what it takes out, the arrays, the events, and the channels; it does wait
 * for it, as does the client's command. An exit that is owed to a channel which is in the noted array, and no longer
 * among the probes, is recorded by what was noted. That the channel's session still records is asked as ever.
 *
 * Who uses an array is counted: a grace period that has begun by then would not wait for them.
 */
#include "tp/call.h"
#include "tp/owed.h"
#include "tp/serialise.h"

#define USERS_STEPS	10000u	/* of a tenth of a millisecond; a handler that jumps out of a record is counted for ever */

SPI_FORK_DATA uint32_t tp_keeping;
static SPI_FORK_DATA uint32_t generation, users;
static tp_reader *reader;
static unsigned long period;	/* lttng-ust's when it began */

static int has_exit(const struct spi_point *point)
{
	return point->payload && !(point->flags & (SPI_POINT_TREE | SPI_POINT_COMPACT | SPI_POINT_ONE_EVENT));
}

static const struct lttng_ust_channel_buffer *channel_of(const struct lttng_ust_tracepoint_probe *probe)
{
	const struct lttng_ust_event_common *event = probe->data;

	return probe->func == tp_probe_mark && event->type == LTTNG_UST_EVENT_TYPE_RECORDER ?
		((const struct lttng_ust_event_recorder *) event->child)->chan : NULL;
}

/* ---- the control thread ---- */

void tp_keep_begin(void)
{
	reader = tp_read_lock(&spi_thread);
	period = CMM_LOAD_SHARED(lttng_ust_urcu_gp.ctr);
	generation += generation == UINT32_MAX ? 2 : 1;
}

void tp_keep_points(struct spi_point **points, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (has_exit(points[i])) {
			struct tp_point *tp = points[i]->payload;

			tp->kept = tp_probes(&tp->exit);
			__atomic_store_n(&tp->kept_for, generation, __ATOMIC_RELEASE);
		}
}

void tp_keep_on(void)
{
	__atomic_store_n(&tp_keeping, generation, __ATOMIC_SEQ_CST);
}

/* How many of them have other exits by now. */
unsigned int tp_keep_changed(struct spi_point **points, unsigned int n)
{
	unsigned int changed = 0;

	for (unsigned int i = 0; i < n; i++)
		if (has_exit(points[i])) {
			const struct tp_point *tp = points[i]->payload;

			changed += tp->kept_for == generation && tp->kept != tp_probes(&tp->exit);
		}
	return changed;
}

/* Does lttng-ust wait, having taken out what it was told to? */
int tp_keep_is_waited(void)
{
	return CMM_LOAD_SHARED(lttng_ust_urcu_gp.ctr) != period;
}

/* Will the call's exit be recorded by what was noted? The slot may be another thread's. */
int tp_keep_waits(const struct spi_slot *slot)
{
	const struct spi_point *point = slot->point;
	const struct tp_point *tp = point && has_exit(point) ? point->payload : NULL;

	if (!tp || tp->kept_for != generation || tp->kept == tp_probes(&tp->exit))
		return 0;
	for (const struct lttng_ust_tracepoint_probe *probe = tp->kept; probe && probe->func; probe++) {
		const struct lttng_ust_channel_buffer *channel = channel_of(probe);

		if (channel && !CMM_ACCESS_ONCE(((const struct lttng_ust_event_common *) probe->data)->enabled) &&
				tp_exit_is_due(slot, channel))
			return 1;
	}
	return 0;
}

void tp_keep_end(void)
{
	const uint64_t pause[2] = { 0, 100000 };

	__atomic_store_n(&tp_keeping, 0, __ATOMIC_SEQ_CST);
	for (unsigned int i = 0; __atomic_load_n(&users, __ATOMIC_SEQ_CST) && i < USERS_STEPS; i++) {
		spi_raw3(SYS_nanosleep, (uint64_t) pause, 0, 0);
	}
	__atomic_store_n(&users, 0, __ATOMIC_RELAXED);
	tp_read_unlock(reader);
}

/* The section was another process's. */
void tp_keep_fork_child(void)
{
	tp_keeping = users = 0;
}

/* ---- threads of the program ---- */

static uint32_t exit_record(struct spi_thread *t, struct tp_point *tp, struct tp_shot *shot, const struct spi_slot *slot)
{
	uint32_t n = 0;

	for (const struct lttng_ust_tracepoint_probe *probe = tp->kept; probe && probe->func; probe++) {
		const struct lttng_ust_event_common *event = probe->data;
		const struct lttng_ust_channel_buffer *channel = channel_of(probe);
		struct lttng_ust_event_recorder *recorder = channel ? event->child : NULL;
		int error;

		if (!channel || !tp_exit_is_due(slot, channel) || !tp_recorder_takes_off(shot, event, channel))
			continue;
		error = tp_record(shot->event, shot->record, shot->length, recorder, recorder->chan);
		n += !error;
		if (tp_discarded(error))
			tp_count(t)->lost_exits++;
	}
	return n;
}

/* In a read-side section. Returns in how many channels it was recorded. */
uint32_t tp_kept_exit(struct spi_thread *t, struct tp_point *tp, struct tp_shot *shot, const struct spi_slot *slot)
{
	uint32_t n = 0, now;

	__atomic_fetch_add(&users, 1, __ATOMIC_SEQ_CST);
	now = __atomic_load_n(&tp_keeping, __ATOMIC_SEQ_CST);
	if (now && __atomic_load_n(&tp->kept_for, __ATOMIC_ACQUIRE) == now)
		n = exit_record(t, tp, shot, slot);
	__atomic_fetch_sub(&users, 1, __ATOMIC_SEQ_CST);
	return n;
}
