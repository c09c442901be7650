/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Exits whose event LTTng removes together with the entries' (`lttng disable-event -u 'spi:parse_*'`), while another
 * session has the functions, too, so that they stay instrumented.
 *
 * lttng-ust takes both events out of their tracepoints, one right after the other, and calls under way would have no
 * exit. The channel is not known before. So the control thread keeps what is there: it enters a read-side section of
 * lttng-ust's RCU, and notes for each function the array of the exit's probes. As long as the thread is in the
 * section, lttng-ust frees none of the arrays, events and channels that it takes out; lttng-ust does wait for the
 * section's end, and so does the client's command. A channel of the noted array, no longer among the probes, that is
 * owed an exit gets it by the noted event. That the channel's session still records is asked as ever.
 *
 * The users of an array are counted: a grace period that has begun by then would not wait for them.
 */
#include <sys/syscall.h>
#include "tp/ledger/ledger.h"

#define USERS_STEPS	10000u	/* of 0.1 ms; a handler that jumps out of a record is counted for ever */

SPI_FORK_DATA uint32_t tp_keeping;
static SPI_FORK_DATA uint32_t generation, users;
static tp_reader *reader;
static unsigned long period;		/* lttng-ust's when the section began */
static unsigned int changed;		/* functions that have other exits by now */

static struct tp_point *kept_point(const struct spi_point *point)
{
	const uint32_t none = SPI_POINT_TREE | SPI_POINT_COMPACT | SPI_POINT_ONE_EVENT | SPI_POINT_APART;

	return point && !(point->flags & none) ? point->payload : NULL;
}

/* ---- the control thread ---- */

static void points_note(struct spi_point **points, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct tp_point *tp = kept_point(points[i]);

		if (!tp)
			continue;
		tp->kept = tp_probes(&tp->exit);
		__atomic_store_n(&tp->kept_for, generation, __ATOMIC_RELEASE);
	}
}

static int is_changed(const struct tp_point *tp)
{
	return tp && tp->kept_for == generation && tp->kept != tp_probes(&tp->exit);
}

static void points_compare(struct spi_point **points, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		changed += (unsigned int) is_changed(kept_point(points[i]));
}

void tp_keep_begin(spi_points_fn points)
{
	reader = tp_read_lock(&spi_thread);
	period = CMM_LOAD_SHARED(lttng_ust_urcu_gp.ctr);
	generation += generation == UINT32_MAX ? 2 : 1;
	points(points_note);
	__atomic_store_n(&tp_keeping, generation, __ATOMIC_SEQ_CST);
}

uint32_t tp_keep_look(spi_points_fn points)
{
	int is_waited = CMM_LOAD_SHARED(lttng_ust_urcu_gp.ctr) != period;

	changed = 0;
	points(points_compare);
	return (changed ? SPI_KEEP_CHANGED : 0) | (is_waited ? SPI_KEEP_WAITED : 0);
}

int tp_keep_waits(const struct spi_slot *slot)
{
	const struct tp_point *tp = kept_point(slot->point);
	const struct lttng_ust_tracepoint_probe *probe = is_changed(tp) ? tp->kept : NULL;

	for (; probe && probe->func; probe++) {
		const struct lttng_ust_event_common *event = probe->data;

		if (tp_channel_of(probe) && !CMM_ACCESS_ONCE(event->enabled) && tp_due_has(slot, tp_channel_of(probe)))
			return 1;
	}
	return 0;
}

void tp_keep_end(void)
{
	const uint64_t pause[2] = { 0, 100000 };

	__atomic_store_n(&tp_keeping, 0, __ATOMIC_SEQ_CST);
	for (unsigned int i = 0; __atomic_load_n(&users, __ATOMIC_SEQ_CST) && i < USERS_STEPS; i++)
		spi_raw3(SYS_nanosleep, (uint64_t) pause, 0, 0);
	__atomic_store_n(&users, 0, __ATOMIC_RELAXED);
	tp_read_unlock(reader);
}

/* The section was another process's. */
void tp_keep_fork_child(void)
{
	tp_keeping = users = 0;
}

/* ---- threads of the program ---- */

static uint32_t exit_record(struct spi_thread *t, struct tp_point *tp, struct tp_shot *shot,
	const struct spi_slot *slot)
{
	uint32_t n = 0;

	for (const struct lttng_ust_tracepoint_probe *probe = tp->kept; probe && probe->func; probe++) {
		struct lttng_ust_event_recorder *recorder = tp_recorder_of(probe);
		int error;

		if (!recorder || !tp_due_has(slot, recorder->chan) ||
				!tp_recorder_takes_off(shot, probe->data, recorder->chan))
			continue;
		error = tp_record(shot->event, shot->record, shot->length, recorder, recorder->chan);
		n += !error;
		tp_count(t)->lost_exits += (unsigned int) tp_discarded(error);
	}
	return n;
}

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
