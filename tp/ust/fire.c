/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The slow sides of firing: a thread's first event, filters, and triggers.
 *
 * lttng-ust's bytecode interpreter wants the event's fields on a stack: integers
 * and enumerations as 8 bytes, extended; floating point as a double; text as a
 * pointer; arrays as a count and a pointer. That stack is made from the finished
 * record, so filters see exactly what is recorded. Single characters are text
 * arrays of one, and captures take text to its NUL: so they get a copy with one.
 */
#include <errno.h>
#include <string.h>
#include <lttng/ust-thread.h>
#include "liblttng-spi/base/base.h"
#include "tp/ust/ust.h"

/* -ftls-model=global-dynamic for this module: lttng-ust's own TLS may be anywhere. */
tp_reader **tp_reader_find(struct spi_thread *t)
{
	tp_reader **place = &URCU_TLS(lttng_ust_urcu_reader);

	tp_errno(t);		/* known before this is: fast.c asks for one of them */
	spi_barrier();
	t->payload[TP_WORD_READER] = place;
	return place;
}

tp_reader *tp_reader_ended;
__thread const char *tp_context_text __attribute__((tls_model("initial-exec")));
__thread int tp_context_is_end __attribute__((tls_model("initial-exec")));

/*
 * libc makes a thread's memory for lttng-ust's variables when they are first used, and ends a process that has none
 * left by then; lttng-ust aborts one that has none for its list of threads.
 */
int tp_thread_ready(int has_memory)
{
	struct spi_thread *t = &spi_thread;
	int *error = tp_errno(t), error_was = *error, is_ready = 0;
	void *reader_was = t->payload[TP_WORD_READER];

	if ((has_memory && URCU_TLS(lttng_ust_urcu_reader)) || tp_core->has_room(has_memory)) {
		lttng_ust_init_thread();
		tp_read_unlock(tp_read_lock(t));
		/* none: the thread's first record is still to come, by which something is learned (in-name.c) */
		t->payload[TP_WORD_READER] = reader_was;
		is_ready = 1;
	}
	*error = error_was;
	return is_ready ? 1 : -1;
}

tp_reader *tp_reader_register(tp_reader **place)
{
	lttng_ust_urcu_register();
	return *place;
}

int *tp_errno_find(struct spi_thread *t)
{
	t->payload[TP_WORD_ERRNO] = &errno;
	return &errno;
}

void tp_probe_mark(void)
{
}

void tp_backtrace_mark(void)
{
}

static uint64_t double_from_float(uint32_t bits)
{
	uint64_t sign = (uint64_t) (bits >> 31) << 63, fraction = bits & 0x7fffff;
	int32_t exponent = (int32_t) (bits >> 23 & 0xff);

	if (exponent == 0xff)
		return sign | UINT64_C(0x7ff) << 52 | fraction << 29;
	if (!exponent)		/* zero, or less than 1.2e-38 */
		return sign;
	return sign | (uint64_t) (exponent - 127 + 1023) << 52 | fraction << 29;
}

static uint64_t integer_from(const uint8_t *from, const struct tp_column *column)
{
	uint64_t value = 0;
	unsigned int unused = 64 - column->size * 8u;

	memcpy(&value, from, column->size);
	if (column->kind != TP_COLUMN_SIGNED || !unused)
		return value;
	return (uint64_t) ((int64_t) (value << unused) >> unused);
}

static uint8_t *put_word(uint8_t *to, uint64_t value)
{
	memcpy(to, &value, 8);
	return to + 8;
}

/* `stack` has 16 bytes a column, `chars` two. */
static void stack_fill(const struct tp_shot *shot, uint8_t *stack, char (*chars)[2])
{
	const struct tp_event *event = shot->event;
	const uint8_t *from = shot->record;
	uint32_t bits;

	for (uint32_t i = 0; i < event->column_count; i++) {
		const struct tp_column *column = &event->columns[i];
		unsigned int n = column->size;

		switch (column->kind) {
		case TP_COLUMN_FLOAT:
			memcpy(&bits, from, 4);
			stack = put_word(stack, n == 4 ? double_from_float(bits) : integer_from(from, column));
			break;
		case TP_COLUMN_STRING:
			stack = put_word(stack, (uint64_t) from);
			n = (unsigned int) strlen((const char *) from) + 1;
			break;
		case TP_COLUMN_CHAR:
			chars[i][0] = (char) *from;
			chars[i][1] = '\0';
			stack = put_word(put_word(stack, 1), (uint64_t) chars[i]);
			break;
		case TP_COLUMN_ARRAY:
			stack = put_word(put_word(stack, column->count), (uint64_t) from);
			n *= column->count;
			break;
		default:
			stack = put_word(stack, integer_from(from, column));
			break;
		}
		from += n;
	}
}

/* Filters on the duration need it before the ring gives a time. */
static void shot_complete(struct tp_shot *shot)
{
	if (shot->late && !shot->late_done)
		tp_shot_late(shot, tp_clock_now());
}

static int filter_run(struct tp_shot *shot, const struct lttng_ust_event_common *event, int is_end)
{
	uint8_t stack[16 * (shot->event->column_count + 1)];
	char chars[shot->event->column_count + 1][2];
	struct lttng_ust_probe_ctx probe = shot->event->probe;
	const int was = tp_context_is_end;
	int accepts;

	shot_complete(shot);
	stack_fill(shot, stack, chars);
	tp_context_is_end = is_end;
	accepts = event->run_filter(event, (const char *) stack, &probe, NULL) == LTTNG_UST_EVENT_FILTER_ACCEPT;
	tp_context_is_end = was;
	return accepts;
}

int tp_filter_is_left(struct tp_shot *shot, const struct lttng_ust_event_common *event)
{
	return CMM_ACCESS_ONCE(event->eval_filter) && filter_run(shot, event, 1) && !filter_run(shot, event, 0);
}

int tp_filter_accepts(struct tp_shot *shot, const struct lttng_ust_event_common *event)
{
	return filter_run(shot, event, (int) shot->event->is_end);
}

void tp_notify(struct tp_shot *shot, struct lttng_ust_event_common *event)
{
	uint8_t stack[16 * (shot->event->column_count + 1)];
	char chars[shot->event->column_count + 1][2];
	struct lttng_ust_event_notifier *notifier = event->child;
	struct lttng_ust_probe_ctx probe = shot->event->probe;
	struct lttng_ust_notification_ctx notification = { .struct_size = sizeof(notification) };

	if (!CMM_ACCESS_ONCE(event->enabled) || (CMM_ACCESS_ONCE(event->eval_filter) && !tp_filter_accepts(shot, event)))
		return;
	shot_complete(shot);
	stack_fill(shot, stack, chars);
	notification.eval_capture = CMM_ACCESS_ONCE(notifier->eval_capture);
	notifier->notification_send(notifier, (const char *) stack, &probe, &notification);
}

unsigned int tp_fire(struct tp_shot *shot, int32_t other)
{
	unsigned int took = 0;

	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(shot->event); probe && probe->func; probe++) {
		struct lttng_ust_event_recorder *recorder = tp_recorder_of(probe);
		int error;

		if (!recorder)
			tp_notify_by(shot, probe);
		if (!recorder || !tp_recorder_takes(shot, probe->data, recorder->chan))
			continue;
		error = tp_record_as(other, shot->event, shot->record, shot->length, recorder);
		if (!error)
			took |= TP_TOOK_ONE;
		else if (tp_discarded(error))
			took |= TP_TOOK_LOST | (error == -ENOSPC ? TP_TOOK_LARGE : TP_TOOK_WAIT);
	}
	return took;
}

uint64_t tp_channels_on(const struct tp_event *event)
{
	uint64_t sum = 0;

	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(event); probe && probe->func; probe++) {
		const struct lttng_ust_channel_buffer *channel = tp_channel_of(probe);

		if (channel && tp_recorder_on(probe->data, channel))
			sum += (uint64_t) channel * UINT64_C(0x9e3779b97f4a7c15) | 1;
	}
	return sum;
}
