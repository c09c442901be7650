/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Closing calls that are under way: the thread that closes writes their exits, in the name of the thread that is in
 * them. No thread is stopped for that. The agent (liblttng-spi/ledger/close.c) says which calls, one after the other.
 *
 * At the process's end and at exec (TP_ENDED, TP_EXEC) a call that returns leaves its slot's `cookie` and `aux` as they
 * are, and the agent waits until no thread is busy: so the slots that still name a channel are exactly the calls whose
 * entry is recorded and whose exit is not. Should the exec fail, the calls that were closed count as over.
 */
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "tp/module/module.h"

#define FULL_TRIES	8u	/* when the ring is full, with the processor given away between them */

/* ---- a thread whose calls are closed ---- */

static struct spi_thread_count *count_of(const struct spi_thread_own *own)
{
	return own->record ? &own->record->count : tp_count(&spi_thread);
}

/* In whose name records are written; 0: the calls are the calling thread's. */
static int32_t other_of(const struct spi_thread_own *own)
{
	return own == spi_thread.own ? 0 : own->tid;
}

void tp_close_thread(const struct spi_thread_own *own, const struct spi_thread *copy)
{
	if (spi_thread_owes(copy))
		tp_debts_close(other_of(own), own->debts, count_of(own));
	if (own == spi_thread.own)
		tp_debts_forget(&spi_thread);
}

/* ---- a call ---- */

/* What is written of the call that is closed, and where. */
struct closing {
	int32_t other;
	const struct spi_point *point;
	struct spi_slot *slot;
	struct spi_thread_count *count;		/* NULL: nothing is written, only looked at */
	struct tp_shot shot;
	enum spi_close_in in;
	int is_one;				/* one event a call: no channel has anything of the call yet */
};

/* The exit event of a call that has not returned: its values are zero. `record` has room for it. */
static struct tp_shot exit_shot(const struct spi_point *point, uint64_t ra, uint8_t *record)
{
	const struct tp_point *tp = point->payload;
	struct tp_shot shot = { .event = &tp->exit, .record = record, .length = 16 };
	uint64_t words[2] = { point->address, tp_call_site(point, ra) };

	if (tp->exit_program)
		shot.length = tp_serialise_zero(tp->exit_program, record);
	else
		memcpy(record, words, sizeof(words));
	return shot;
}

/* Does the channel take the function's exits, and its entries no more, or without the rule that asked for them? */
static int is_left_in(struct closing *c, const struct lttng_ust_event_common *exit, const void *channel)
{
	const struct tp_point *tp = c->point->payload;

	if (!CMM_ACCESS_ONCE(exit->enabled))
		return 0;
	if (tp_filter_is_left(&c->shot, exit))
		return 1;
	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&tp->entry); probe && probe->func; probe++) {
		const struct lttng_ust_event_common *entry = probe->data;

		if (tp_channel_of(probe) == channel && CMM_ACCESS_ONCE(entry->enabled))
			return 0;
	}
	return 1;
}

/* The process's own end: has a channel without entries the exits of the closing thread's calls? */
static int is_alone(const struct closing *c, const void *channel)
{
	return c->in == SPI_CLOSE_IN_PROCESS && !c->other && tp_exit_is_alone(c->point->payload, channel);
}

static int channel_is_meant(struct closing *c, const struct lttng_ust_event_common *event, const void *channel)
{
	if (c->is_one)
		return 1;
	if (!tp_due_has(c->slot, channel))
		return is_alone(c, channel);
	/* an event without a filter stays on for other trees, and records the exit when the call returns */
	if (c->in == SPI_CLOSE_IN_TAGGED)
		return CMM_ACCESS_ONCE(event->eval_filter);
	return c->in != SPI_CLOSE_IN_LEFT || is_left_in(c, event, channel);
}

/*
 * Afterwards the channel is not owed the exit any more, be the exit written or lost. One exception: while rules are
 * closed for, a record in another thread's name may be impossible; then the exit comes when the call returns.
 */
static void channel_write(struct closing *c, struct lttng_ust_event_recorder *recorder)
{
	const struct tp_shot *shot = &c->shot;
	int error = -ENOBUFS;

	if (shot->late && !shot->late_done)
		tp_shot_late(&c->shot, tp_clock_now());
	for (unsigned int i = 0; error && (!i || tp_may_wait(error)) && i < FULL_TRIES; i++) {
		if (i)
			spi_raw3(SYS_sched_yield, 0, 0, 0);
		error = tp_record_as(c->other, shot->event, shot->record, shot->length, recorder);
	}
	if (error == -EAGAIN && c->in != SPI_CLOSE_IN_PROCESS)
		return;
	if (c->is_one) {
		c->count->entries += !error;
		c->count->lost_entries += !!error;
	} else {
		c->count->exits += !error;
		c->count->lost_exits += !!error;
		tp_due_forget(c->slot, recorder->chan);
	}
}

/* Returns in how many channels the call is to be closed: when only looked at, 1 is enough. */
static int channels_close(struct closing *c)
{
	tp_reader *reader = tp_read_lock(&spi_thread);
	int n = 0;

	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(c->shot.event); probe && probe->func; probe++) {
		struct lttng_ust_event_recorder *recorder = tp_recorder_of(probe);

		if (!recorder && c->count && c->in == SPI_CLOSE_IN_PROCESS)
			tp_notify_by(&c->shot, probe);
		if (!recorder || !channel_is_meant(c, probe->data, recorder->chan))
			continue;
		n++;
		if (!c->count)
			break;
		if (tp_recorder_takes(&c->shot, probe->data, recorder->chan))
			channel_write(c, recorder);
	}
	tp_read_unlock(reader);
	return n;
}

/* Two events a call. */
static int call_close(struct closing *c)
{
	const struct tp_point *tp = c->point->payload;
	uint8_t record[tp->exit_program ? tp->exit_program->length + TP_SLOP : 16];
	enum spi_left how = c->in == SPI_CLOSE_IN_PROCESS ? SPI_LEFT_PROCESS_END : SPI_LEFT_DETACHED;

	c->shot = exit_shot(c->point, c->slot->ra, record);
	if (c->count && tp_due_is_owed(c->slot) && (tp->exit_program || c->in == SPI_CLOSE_IN_PROCESS))
		tp_left_fire(&spi_thread, c->other, c->point, how);
	return channels_close(c);
}

int tp_close_call(const struct spi_thread_own *own, struct spi_slot *slot, uint32_t trees, enum spi_close_in in)
{
	struct spi_thread *t = &spi_thread;
	const struct spi_point *point = slot->point;
	const uint32_t flags = point ? point->flags : 0, low = slot->aux & (TP_EPOCH_STEP - 1), now = t->tree_now;
	const int is_one = (flags & SPI_POINT_ONE_EVENT) != 0, is_last = own && in == SPI_CLOSE_IN_PROCESS;
	struct closing c = { own ? other_of(own) : 0, point, slot, own ? count_of(own) : NULL, { 0 }, in, is_one };
	int *error = tp_errno(t), error_was = *error, n = 0;

	if (!point || !point->payload || (flags & SPI_POINT_COMPACT) || slot->aux - low != tp_epoch ||
			(is_one ? !is_last : low > TP_SLOT_SET) ||
			(!is_one && !tp_due_is_owed(slot) && (!is_last || c.other)))
		return 0;
	t->tree_now = flags & SPI_POINT_TREE && !is_one ? trees & (uint32_t) slot->start : 0;
	if (!is_one)
		n = call_close(&c);
	else if (tp_one_shot(slot, SPI_LEFT_PROCESS_END, &c.shot))
		n = channels_close(&c);
	t->tree_now = now;
	if (is_last)
		tp_due_over(slot);
	*error = error_was;
	return n;
}
