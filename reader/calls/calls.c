/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* From events and records to calls: which entry an exit belongs to, and which calls are shown. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/calls/calls.h"

#define STACK_MOST	(1u << 24)

struct whole {
	int64_t begin, duration;
};

int calls_init(struct calls *c, int (*take)(void *data, const struct call *call), void *data)
{
	memset(c, 0, sizeof(*c));
	merge_init(&c->merge, (int64_t) MERGE_HOLD_MS * 1000000, "lttng-spi");
	c->take = take;
	c->data = data;
	c->filter.from = INT64_MIN;
	c->filter.to = INT64_MAX;
	c->functions = (struct spi_hash) SPI_HASH_OVER(c->function_buckets);
	c->processes = (struct spi_hash) SPI_HASH_OVER(c->process_buckets);
	c->threads = (struct spi_hash) SPI_HASH_OVER(c->thread_buckets);
	c->channels = (struct spi_hash) SPI_HASH_OVER(c->channel_buckets);
	return 0;
}

void calls_free(struct calls *c)
{
	merge_free(&c->merge);
	for (uint32_t i = 0; i < c->thread_count; i++) {
		free(c->thread_list[i]->stack);
		free(c->thread_list[i]->wholes);
		free(c->thread_list[i]);
	}
	for (uint32_t i = 0; i < c->process_count; i++)
		free(c->process_list[i]);
	for (uint32_t i = 0; i < c->function_count; i++)
		free(c->function_list[i]);
	for (struct value_class *v = c->value_classes, *next; v; v = next) {
		next = v->next;
		free(v);
	}
	event_channels_free(c);
	free(c->thread_list);
	free(c->process_list);
	free(c->function_list);
	free(c->wanted);
}

/* ---- which calls are shown ---- */

static int is_wanted(const struct calls *c, uint64_t number)
{
	return !c->wanted || c->is_choosing || (number / 8 < c->wanted_size && (c->wanted[number / 8] >> number % 8 & 1));
}

static int want(struct calls *c, uint64_t number)
{
	if (number / 8 >= c->wanted_size) {
		uint64_t size = number / 4 + 65536;
		uint8_t *more = realloc(c->wanted, size);

		if (!more)
			return -ENOMEM;
		memset(more + c->wanted_size, 0, size - c->wanted_size);
		c->wanted = more;
		c->wanted_size = size;
	}
	c->wanted[number / 8] |= (uint8_t) (1 << number % 8);
	return 0;
}

static int is_chosen(const struct calls *c, const struct call_thread *t, const struct call_function *f, int64_t begin)
{
	const struct call_filter *filter = &c->filter;

	return f->chosen && t->chosen && t->process->chosen && begin >= filter->from && begin <= filter->to &&
		(!filter->callers || t->within);
}

/* How deep a call is counts those around it that are shown, which is not known yet while they are chosen. */
static int is_too_deep(const struct calls *c, const struct call_thread *t)
{
	return c->filter.depth && !c->is_choosing && t->shown >= c->filter.depth;
}

static int give(struct calls *c, const struct call *call)
{
	const struct call_filter *filter = &c->filter;

	if (!c->is_choosing)
		return c->take(c->data, call);
	if (call->kind == CALL_ENTRY || call->kind == CALL_LOST || call->begin == INT64_MIN)
		return 0;
	if (call->ns - call->begin < filter->longer)
		return 0;
	if (filter->only_errors && call->left <= SPI_LEFT_RETURN && !call_result_is_error(call))
		return 0;
	if (filter->only_errors && (call->left > SPI_LEFT_JUMPED))
		return 0;
	return want(c, call->number);
}

/* ---- the stream ---- */

static void seen(struct calls *c, struct call_thread *t, int64_t ns)
{
	if (!c->calls++)
		c->first = ns;
	t->last = c->last = ns;
}

static int enter(struct calls *c, struct call *call, const void *source)
{
	struct call_thread *t = call->thread;
	struct open_call *open;

	if (t->depth == t->room) {
		uint32_t room = t->room ? t->room * 2 : 64;
		struct open_call *more = room <= STACK_MOST ? realloc(t->stack, room * sizeof(*more)) : NULL;

		if (!more)
			return -ENOMEM;
		t->stack = more;
		t->room = room;
	}
	seen(c, t, call->ns);
	open = &t->stack[t->depth++];
	*open = (struct open_call) { .function = call->function, .begin = call->ns, .source = source };
	if (is_chosen(c, t, call->function, call->ns)) {
		open->number = ++c->number;
		if (!is_wanted(c, open->number) || is_too_deep(c, t))
			open->number = 0;
	}
	t->within += call->function->is_caller;
	if (!open->number)
		return 0;
	call->depth = t->shown++;
	call->number = open->number;
	return give(c, call);
}

/* The innermost call ends. */
static int leave_top(struct calls *c, struct call *call, int left)
{
	struct call_thread *t = call->thread;
	struct open_call *open = &t->stack[--t->depth];
	const int64_t duration = call->ns - open->begin;

	t->last = c->last = call->ns;
	t->within -= open->function->is_caller;
	if (t->depth)
		t->stack[t->depth - 1].inner += duration;
	if (!open->number)
		return 0;
	call->function = open->function;
	call->begin = open->begin;
	call->self = duration - open->inner;
	call->left = left;
	call->depth = --t->shown;
	call->number = open->number;
	return give(c, call);
}

static int leave(struct calls *c, struct call *call, const void *source)
{
	struct call_thread *t = call->thread;
	uint32_t at = t->depth;
	int r = 0;

	while (at && (t->stack[at - 1].function != call->function || t->stack[at - 1].source != source))
		at--;
	if (at) {
		struct call inner = *call;

		inner.event = NULL;
		while (r == 0 && t->depth > at)
			r = leave_top(c, &inner, CALL_NO_EXIT);
		return r < 0 ? r : leave_top(c, call, call->left);
	}
	/* It began before the trace, or its entry is lost. */
	call->begin = INT64_MIN;
	call->depth = t->shown;
	return is_chosen(c, t, call->function, call->ns) && !is_too_deep(c, t) && !c->filter.longer &&
		!c->filter.only_errors ? give(c, call) : 0;
}

/* Those that end within it came before. */
static int whole(struct calls *c, struct call *call)
{
	struct call_thread *t = call->thread;
	const int64_t duration = call->ns - call->begin;

	call->self = duration;
	while (t->whole_count && t->wholes[t->whole_count - 1].begin >= call->begin)
		call->self -= t->wholes[--t->whole_count].duration;
	if (t->whole_count == t->whole_room) {
		size_t room = t->whole_room ? t->whole_room * 2 : 64;
		struct whole *more = realloc(t->wholes, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		t->wholes = more;
		t->whole_room = room;
	}
	t->wholes[t->whole_count++] = (struct whole) { call->begin, duration };
	seen(c, t, call->ns);
	c->has_whole = 1;
	if (!is_chosen(c, t, call->function, call->begin))
		return 0;
	call->number = ++c->number;
	call->depth = t->shown;
	return is_wanted(c, call->number) ? give(c, call) : 0;
}

static int lost(struct calls *c, int64_t ns, uint64_t count, const char *stream)
{
	const struct call call = { .kind = CALL_LOST, .ns = ns, .lost = count, .stream = stream };

	c->lost += count;
	return give(c, &call);
}

/* No call, at its place among the thread's open ones. */
static int other(struct calls *c, struct call *call)
{
	struct call_thread *t = call->thread;

	call->kind = CALL_EVENT;
	call->depth = t->shown;
	t->last = c->last = call->ns;
	if (!is_chosen(c, t, call->function, call->ns))
		return 0;
	c->others++;
	return give(c, call);
}

/* ---- what comes ---- */

static int take_typed(struct calls *c, const bt_event *event, struct value_class *v, struct call *call)
{
	struct call_thread *t = call->thread;

	call->event = event;
	call->values = v;
	call->function = v->function;
	switch (v->kind) {
	case VALUE_ENTRY:
		call->kind = CALL_ENTRY;
		return enter(c, call, v->function);
	case VALUE_EXIT:
		call->kind = CALL_EXIT;
		call->left = t->left;
		t->left = SPI_LEFT_RETURN;
		return leave(c, call, v->function);
	case VALUE_WHOLE:
		call->kind = CALL_WHOLE;
		call->begin = call->ns - (int64_t) field_integer(payload_field(event, v->duration));
		call->left = (int) field_integer(payload_field(event, v->left));
		return whole(c, call);
	case VALUE_LEFT:
		t->left = (int) field_integer(payload_field(event, v->left));
		return 0;
	case VALUE_PROCNAME:
		strncpy(t->process->name, payload_string(event, "procname"), sizeof(t->process->name) - 1);
		text_clean(t->process->name);
		filter_process(&c->filter, t->process);
		return 0;
	case VALUE_SEND:
	case VALUE_RECEIVE:
	case VALUE_PEER:
	case VALUE_EVENT:
		return other(c, call);
	case VALUE_CHANNEL:
		return event_channel_take(c, t->process, event);
	case VALUE_OTHER:
		break;
	}
	return 0;
}

static int take_event(struct calls *c, const struct merged *next)
{
	const bt_event *event = bt_message_event_borrow_event_const(next->message);
	const int is_tree = next->class->kind == EVENT_FUNC_ENTRY || next->class->kind == EVENT_FUNC_EXIT;
	struct value_class *v = is_tree ? NULL : value_class_get(c, next->class);
	struct call call = { .thread = NULL };

	c->events++;
	if (!is_tree && (!v || v->kind == VALUE_OTHER))
		return v ? 0 : -ENOMEM;
	call.thread = call_thread_of_event(c, event);
	if (!call.thread)
		return -ENOMEM;
	message_time(next->message, &call.ns);
	if (!is_tree)
		return take_typed(c, event, v, &call);
	call.function = call_function_of(c, names_space(&c->merge, event), next->function, payload_unsigned(event, "addr"));
	if (!call.function)
		return -ENOMEM;
	if (next->class->kind == EVENT_FUNC_ENTRY) {
		call.kind = CALL_ENTRY;
		if (c->has_lines) {
			call.space = names_space(&c->merge, event);
			call.call_site = payload_unsigned(event, "call_site");
		}
		return enter(c, &call, &c->events);
	}
	call.kind = CALL_EXIT;
	call.left = call.thread->left;
	call.thread->left = SPI_LEFT_RETURN;
	return leave(c, &call, &c->events);
}

static int take_record(struct calls *c, struct thread *thread)
{
	const struct record *record = &thread->record;
	struct call call = { .kind = record->is_entry ? CALL_ENTRY : CALL_EXIT, .ns = record->ns, .left = record->left };

	c->events++;
	call.thread = call_thread_of_record(c, thread);
	call.function = call.thread ? call_function_of(c, thread->process->space, record->function, record->address) : NULL;
	if (!call.function)
		return -ENOMEM;
	if (c->has_lines) {
		call.space = thread->process->space;
		call.call_site = record->call_site;
	}
	return record->is_entry ? enter(c, &call, thread) : leave(c, &call, thread);
}

static int take_other(struct calls *c, const bt_message *message)
{
	uint64_t count = 0;
	const char *channel;

	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_DISCARDED_EVENTS)
		return 0;
	channel = bt_stream_class_get_name(bt_stream_borrow_class_const(
		bt_message_discarded_events_borrow_stream_const(message)));
	bt_message_discarded_events_get_count(message, &count);
	return lost(c, c->merge.out_ns, count, channel ? channel : "");
}

static int give_all(struct calls *c)
{
	struct merged next;
	int r = 0;

	while (!(c->stop && *c->stop) && (r = merge_next(&c->merge, &next)) > 0) {
		if (!next.message) {
			r = take_record(c, next.thread);
			if (merge_done(&c->merge, next.thread) < 0)
				r = -ENOMEM;
		} else {
			r = next.class ? take_event(c, &next) : take_other(c, next.message);
			bt_message_put_ref(next.message);
		}
		if (r < 0)
			return r;
	}
	return r < 0 ? -ENOMEM : 0;
}

int calls_take(struct calls *c, const bt_message *message)
{
	const uint64_t gaps = c->merge.gaps;
	int r = merge_take(&c->merge, message) < 0 ? -ENOMEM : 0;

	if (r == 0 && c->merge.gaps != gaps)
		r = lost(c, c->merge.out_ns, 0, NULL);
	return r < 0 ? r : give_all(c);
}

int calls_end(struct calls *c)
{
	int r;

	merge_end(&c->merge);
	r = give_all(c);
	for (uint32_t i = 0; r >= 0 && i < c->thread_count; i++) {
		struct call call = { .kind = CALL_EXIT, .thread = c->thread_list[i], .ns = c->last };

		while (r >= 0 && call.thread->depth) {
			call.event = NULL;
			r = leave_top(c, &call, CALL_OPEN);
		}
	}
	return r;
}
