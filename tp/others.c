/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls that other threads are in when the process ends, or executes another
 * program. Their exits are written by the thread that does that, in the name of
 * theirs (as.c), at that moment.
 *
 * They run on meanwhile, and none is stopped for it. First recording is closed:
 * from then on a thread records neither entries nor exits, and leaves of a call that
 * returns its slot's `cookie` and `aux` as they are. A thread looks whether it is
 * closed when it is busy already; who closes makes that seen (membarrier) and waits
 * until nobody is busy any more (liblttng-spi/others.c): so the slots that still name a
 * channel are exactly the calls whose entry is recorded and whose exit is not.
 *
 * A tree that ends while the process goes on closes what calls of its own are still open then, thread by thread
 * (tp_other_close()). Nothing else may be lost meanwhile, so everybody records; but exits are written under a lock
 * of their thread, which who closes takes for as long as that thread's calls need.
 *
 * Should execve() fail, these calls are entered again, each thread's own by itself,
 * outermost first, before it records anything else; until all have done that the
 * way of a call is the slow one. Calls that returned meanwhile are over: they have
 * their exits.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/proc.h"
#include "tp/as.h"
#include "tp/call.h"
#include "tp/compact.h"
#include "tp/owed.h"
#include "tp/serialise.h"

#define FULL_TRIES	8u	/* when the ring is full, with the processor given away between them */

SPI_FORK_DATA uint32_t tp_closed;
static uint32_t agains;		/* threads that have not yet entered their calls again */

static void processor_yield(void)
{
	spi_raw3(SYS_sched_yield, 0, 0, 0);
}

/* ---- closing ---- */

/* From now on nobody records but the caller, by what follows. 0: that has been done before. */
int tp_others_begin(int is_end)
{
	uint32_t state = is_end ? TP_ENDED : TP_EXEC, was = __atomic_load_n(&tp_closed, __ATOMIC_RELAXED);

	do
		if (was >= state)
			return 0;
	while (!__atomic_compare_exchange_n(&tp_closed, &was, state, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return was < TP_EXEC;
}

/* ---- another thread's exit ---- */

/* Is this channel owed the exit of the call? */
int tp_exit_is_due(const struct spi_slot *slot, const struct lttng_ust_channel_buffer *channel)
{
	if (slot->aux == (tp_epoch | TP_SLOT_SET))
		return tp_heard_has(slot, channel);
	return slot->aux == tp_epoch && slot->cookie == channel;
}

static void write_due(struct spi_thread *t, const struct tp_as *as, struct tp_shot *shot, const struct spi_slot *slot,
	struct spi_thread_count *count, int is_one)
{
	tp_reader *reader = tp_read_lock(t);

	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(shot->event); probe && probe->func; probe++) {
		struct lttng_ust_event_common *event = probe->data;
		struct lttng_ust_event_recorder *recorder = event->child;
		int error = -ENOBUFS;

		if (probe->func != tp_probe_mark)
			continue;
		if (event->type == LTTNG_UST_EVENT_TYPE_NOTIFIER)
			tp_notify(shot, event);
		if (event->type != LTTNG_UST_EVENT_TYPE_RECORDER || (!is_one && !tp_exit_is_due(slot, recorder->chan)) ||
				!tp_recorder_takes(shot, event, recorder->chan))
			continue;
		if (shot->late && !shot->late_done)
			tp_shot_late(shot, tp_clock_now());
		for (unsigned int i = 0; error && (!i || tp_may_wait(error)) && i < FULL_TRIES; i++) {
			if (i)
				processor_yield();
			error = tp_as_record(as, shot->event, shot->record, shot->length, recorder, recorder->chan);
		}
		if (is_one) {
			count->entries += !error;
			count->lost_entries += !!error;
		} else {
			count->exits += !error;
			count->lost_exits += !!error;
		}
	}
	tp_read_unlock(reader);
}

/* The exit event of a call with two, which has not returned: its values are zero. `record` has room for it. */
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

static void write_exit(struct spi_thread *t, const struct tp_as *as, struct spi_slot *slot, struct spi_thread_count *count)
{
	const struct tp_point *tp = slot->point->payload;
	uint8_t record[tp->exit_program ? tp->exit_program->length + TP_SLOP : 16];
	struct tp_shot shot = exit_shot(slot->point, slot->ra, record);

	write_due(t, as, &shot, slot, count, 0);
}

/* What the context procname says of a thread: as it is called now. */
static void name_read(struct tp_as *as)
{
	char path[64] = "/proc/self/task/", digits[12];
	unsigned int n = 0, at = 16;
	long fd, size;

	for (uint32_t tid = (uint32_t) as->tid; tid || !n; tid /= 10)
		digits[n++] = (char) ('0' + tid % 10);
	while (n)
		path[at++] = digits[--n];
	memcpy(path + at, "/comm", 6);
	fd = spi_raw4(SYS_openat, (uint64_t) AT_FDCWD, (uint64_t) path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	size = spi_proc_read(fd, as->name, 16);
	if (size > 0 && as->name[size - 1] == '\n')
		as->name[size - 1] = 0;
	spi_proc_close(fd);
}

static struct tp_as as;		/* the thread that is being closed; there is one who closes */

void tp_other_thread(const struct spi_thread_own *own, const struct spi_thread *copy)
{
	struct spi_thread *t = &spi_thread;

	memset(&as, 0, sizeof(as));
	as.tid = own->tid;
	as.self = (uint64_t) own->thread - (uint64_t) t + spi_thread_pointer();
	name_read(&as);
	if (spi_thread_owes(copy) && copy->payload[TP_WORD_THREAD])
		tp_owed_other(&as, copy->payload[TP_WORD_THREAD], own->record ? &own->record->count : tp_count(t));
}

/* A slot of that thread. 1: it is to be entered again if the process goes on. */
int tp_other_left(const struct spi_thread_own *own, struct spi_slot *slot, enum spi_left how)
{
	uint32_t low = slot->aux & (TP_EPOCH_STEP - 1), now;
	struct spi_thread *t = &spi_thread;
	struct spi_point *point = slot->point;
	int *error, error_was, again = 0;
	struct spi_thread_count *count = own->record ? &own->record->count : tp_count(t);
	struct tp_shot shot;

	if (!point || !point->payload || (point->flags & SPI_POINT_COMPACT) || slot->aux - low != tp_epoch ||
			(!slot->cookie && low != TP_SLOT_SET))
		return 0;
	error = tp_errno(t);
	error_was = *error;
	now = t->tree_now;
	t->tree_now = point->flags & SPI_POINT_TREE && !(point->flags & SPI_POINT_ONE_EVENT) ? (uint32_t) slot->start : 0;
	if (point->flags & SPI_POINT_ONE_EVENT) {
		if (tp_one_shot(slot, how, &shot))
			write_due(t, &as, &shot, slot, count, 1);
	} else if (low <= TP_SLOT_SET) {
		tp_left_fire_as(t, &as, point, how);
		write_exit(t, &as, slot, count);
		again = !((const struct tp_point *) point->payload)->exit_program;
	}
	t->tree_now = now;
	slot->cookie = NULL;
	slot->aux = again ? tp_epoch | TP_SLOT_AGAIN : 0;
	*error = error_was;
	return again;
}

/* ---- calls of a tree that ends ---- */

/* Those who are not busy now, or are once, will see it. 0: something else is going on. */
int tp_careful_begin(void)
{
	uint32_t state = TP_OPEN;

	return __atomic_compare_exchange_n(&tp_closed, &state, TP_CAREFUL, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void tp_careful_end(void)
{
	uint32_t state = TP_CAREFUL;

	__atomic_compare_exchange_n(&tp_closed, &state, TP_OPEN, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* The calling thread's own. 0: it has it already, in the code that a signal handler interrupted. */
int tp_careful_lock(const struct spi_thread *t)
{
	for (;;) {
		uint32_t none = SPI_CLOSING_FREE;

		if (!t->own)
			return 0;
		if (__atomic_compare_exchange_n(&t->own->closing, &none, SPI_CLOSING_OWN, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return 1;
		if (none == SPI_CLOSING_OWN)
			return 0;
		processor_yield();
	}
}

void tp_careful_unlock(const struct spi_thread *t)
{
	__atomic_store_n(&t->own->closing, SPI_CLOSING_FREE, __ATOMIC_RELEASE);
}

/* In the channel that it means: by what these trees alone would be recorded in. 1: it has the exit, or will not. */
static int close_in(struct tp_shot *shot, const struct lttng_ust_event_common *event, struct spi_thread_count *count,
	enum spi_close_in in)
{
	struct lttng_ust_event_recorder *recorder = event->child;
	int error = -ENOBUFS;

	/* one without a filter records whatever trees there are, and the exit when it comes */
	if ((in == SPI_CLOSE_IN_TAGGED && !CMM_ACCESS_ONCE(event->eval_filter)) || !tp_recorder_takes(shot, event, recorder->chan))
		return 0;
	for (unsigned int i = 0; error && (!i || tp_may_wait(error)) && i < FULL_TRIES; i++) {
		if (i)
			processor_yield();
		error = tp_as_record(&as, shot->event, shot->record, shot->length, recorder, recorder->chan);
	}
	if (error == -EAGAIN)
		return 0;
	count->exits += !error;
	count->lost_exits += !!error;
	return 1;
}

/* Are the function's exits on in this channel, and its entries off, or the rule that asked for them? Inside a read-side section. */
static int is_left_in(const struct tp_point *tp, struct tp_shot *shot, const struct lttng_ust_event_common *exit, const void *channel)
{
	if (!CMM_ACCESS_ONCE(exit->enabled))
		return 0;
	if (tp_filter_is_left(shot, exit))
		return 1;
	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&tp->entry); probe && probe->func; probe++) {
		const struct lttng_ust_event_common *event = probe->data;

		if (probe->func == tp_probe_mark && event->type == LTTNG_UST_EVENT_TYPE_RECORDER && CMM_ACCESS_ONCE(event->enabled) &&
				((struct lttng_ust_event_recorder *) event->child)->chan == channel)
			return 0;
	}
	return 1;
}

/*
 * The slot may be another thread's, and become another call's meanwhile: then the next look tells. Who switches a rule off
 * begins with the entries, so there are no new ones.
 */
int tp_exit_left(const struct spi_slot *slot)
{
	const struct spi_point *point = slot->point;
	const struct tp_point *tp = point ? point->payload : NULL;
	struct tp_shot shot;
	uint8_t *record;
	int is_left = 0;
	tp_reader *reader;

	if (!tp || (point->flags & (SPI_POINT_TREE | SPI_POINT_COMPACT | SPI_POINT_ONE_EVENT)))
		return 0;
	record = __builtin_alloca(tp->exit_program ? tp->exit_program->length + TP_SLOP : 16);
	shot = exit_shot(point, slot->ra, record);
	reader = tp_read_lock(&spi_thread);
	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&tp->exit); !is_left && probe && probe->func; probe++) {
		const struct lttng_ust_event_common *event = probe->data;

		if (probe->func == tp_probe_mark && event->type == LTTNG_UST_EVENT_TYPE_RECORDER) {
			const struct lttng_ust_channel_buffer *channel = ((struct lttng_ust_event_recorder *) event->child)->chan;

			is_left = tp_exit_is_due(slot, channel) && is_left_in(tp, &shot, event, channel);
		}
	}
	tp_read_unlock(reader);
	return is_left;
}

/*
 * A call of that thread, whose lock is held, with one event at each end: its exit, now, in the channels that have the entry because
 * of these trees, or of a rule for functions. When it returns there is nothing left to be said there.
 */
void tp_other_close(const struct spi_thread_own *own, struct spi_slot *slot, uint32_t trees, enum spi_close_in in)
{
	const int is_set = slot->aux == (tp_epoch | TP_SLOT_SET);
	struct spi_thread *t = &spi_thread;
	const struct tp_point *tp = slot->point->payload;
	uint8_t record[tp->exit_program ? tp->exit_program->length + TP_SLOP : 16];
	struct tp_shot shot = exit_shot(slot->point, slot->ra, record);
	struct spi_thread_count *count = own->record ? &own->record->count : tp_count(t);
	uint32_t now = t->tree_now;
	tp_reader *reader;

	if (!is_set && (slot->aux != tp_epoch || !slot->cookie))
		return;
	t->tree_now = slot->point->flags & SPI_POINT_TREE ? trees & (uint32_t) slot->start : 0;
	if (tp->exit_program)
		tp_left_fire_as(t, &as, slot->point, SPI_LEFT_DETACHED);
	reader = tp_read_lock(t);
	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&tp->exit); probe && probe->func; probe++) {
		struct lttng_ust_event_common *event = probe->data;
		const void *channel = ((struct lttng_ust_event_recorder *) event->child)->chan;

		if (probe->func != tp_probe_mark || event->type != LTTNG_UST_EVENT_TYPE_RECORDER || !tp_exit_is_due(slot, channel) ||
				(in == SPI_CLOSE_IN_LEFT && !is_left_in(tp, &shot, event, channel)) || !close_in(&shot, event, count, in))
			continue;
		if (is_set) {
			tp_heard_forget(slot, channel);
		} else {
			slot->cookie = NULL;
			slot->aux = 0;
			break;
		}
	}
	tp_read_unlock(reader);
	t->tree_now = now;
}

/* ---- after all ---- */

/* A call of the calling thread, which closed it by itself. */
int tp_enter_again(struct spi_slot *slot)
{
	const struct tp_point *tp = slot->point->payload;
	int *error, error_was;

	if (!tp || (slot->point->flags & (SPI_POINT_COMPACT | SPI_POINT_ONE_EVENT)) || tp->exit_program)
		return 0;
	error = tp_errno(&spi_thread);
	error_was = *error;
	slot->aux = tp_epoch | TP_SLOT_AGAIN;
	tp_call_again(slot);
	*error = error_was;
	return 1;
}

/* The process goes on; this many threads have calls that were closed (spi_thread_own.again). */
void tp_others_again(uint32_t threads)
{
	uint32_t state = TP_EXEC;

	__atomic_store_n(&agains, threads, __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(&tp_closed, &state, threads ? TP_AGAIN : TP_OPEN, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* The thread has entered its calls, or ends without. */
void tp_again_forget(struct spi_thread *t)
{
	uint32_t state = TP_AGAIN;

	if (!t->own || !__atomic_exchange_n(&t->own->again, 0, __ATOMIC_ACQ_REL))
		return;
	if (!__atomic_sub_fetch(&agains, 1, __ATOMIC_ACQ_REL))
		__atomic_compare_exchange_n(&tp_closed, &state, TP_OPEN, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

__attribute__((noinline)) int tp_again_slow(struct spi_thread *t)
{
	if (t->own && t->own->again) {
		tp_core->slots_each(tp_call_again);
		tp_again_forget(t);
	}
	return 1;
}
