/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls as people read them: a line where a call begins and one where it ends, or one for both when nothing came between.
 *
 *	12:47:45.199820 [96] shop::pay(k = Card, who = "ann")
 *	12:47:45.199831 [96]   shop::Basket::total(tax = true) = 42      <0.9 us>
 *	12:47:45.199836 [96] shop::pay = 1                               <1.9 us>
 *
 * JSON is one object a line: an entry, an exit, or a whole call.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/views/views.h"

#define DEEPEST		40u		/* no further to the right */
#define TEXT_MOST	16384u

struct calls_view {
	FILE *out;
	enum format format;
	/* the entry that may get its exit on the same line */
	struct call_thread *thread;	/* NULL: none */
	uint64_t number;
	int64_t ns;
	uint32_t depth;
	struct call_function *function;
	char arguments[TEXT_MOST];
	char result[TEXT_MOST];
};

struct calls_view *calls_view_make(FILE *out, enum format format)
{
	struct calls_view *v = calloc(1, sizeof(*v));

	if (v) {
		v->out = out;
		v->format = format;
	}
	return v;
}

void calls_view_free(struct calls_view *v)
{
	free(v);
}

/* ---- text ---- */

static size_t columns_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char) *text & 0xc0) != 0x80;
	return n;
}

static void begin_write(const struct calls_view *v, int64_t ns, const struct call_thread *t, uint32_t depth, size_t *columns)
{
	char time[32];
	int n;

	time_text(ns, time, sizeof(time));
	n = fprintf(v->out, "%s%s%s ", colour_begin(COLOUR_DIM), time, colour_end(COLOUR_DIM));
	if (t->tid >= 0)
		n = fprintf(v->out, "[%" PRId64 "] ", t->tid);
	else
		n = 0;
	if (depth > DEEPEST)
		n += fprintf(v->out, "%*s(%u) ", (int) (2 * DEEPEST), "", depth);
	else
		n += fprintf(v->out, "%*s", (int) (2 * depth), "");
	*columns = strlen(time) + 1 + (size_t) (n > 0 ? n : 0);
}

static void name_write(const struct calls_view *v, const struct call_function *f)
{
	fprintf(v->out, "%s%s%s", colour_begin(COLOUR_FUNCTION), f->name, colour_end(COLOUR_FUNCTION));
}

/* How it ended, and how long it took, at the right. */
static int end_write(struct calls_view *v, const struct call *call, size_t columns, int is_alone)
{
	const char *left = call_left_text(call->left);
	const size_t right = terminal.width ? terminal.width : 80;
	char time[32], text[64] = "";
	size_t length = columns;

	if (!left)
		call_result(call, v->result, sizeof(v->result));
	if (left) {
		fprintf(v->out, " %s%s%s", colour_begin(COLOUR_ERROR), left, colour_end(COLOUR_ERROR));
		length += 1 + strlen(left);
	} else if (*v->result) {
		fprintf(v->out, " = %s%s%s", colour_begin(COLOUR_VALUE), v->result, colour_end(COLOUR_VALUE));
		length += 3 + columns_of(v->result);
	} else if (is_alone) {
		fputs(" returns", v->out);
		length += 8;
	}
	if (call->begin != INT64_MIN) {
		duration_text(call->ns - call->begin, time, sizeof(time));
		snprintf(text, sizeof(text), "<%s>", time);
	}
	if (*text && length + 2 + strlen(text) < right)
		fprintf(v->out, "%*s", (int) (right - strlen(text) - length), "");
	else if (*text)
		fputs("  ", v->out);
	fprintf(v->out, "%s%s%s\n", colour_begin(COLOUR_DIM), text, colour_end(COLOUR_DIM));
	return ferror(v->out) ? -EPIPE : 0;
}

/* The entry that waits, without the end of its line: the columns it takes. */
static size_t entry_write(struct calls_view *v)
{
	size_t columns;

	begin_write(v, v->ns, v->thread, v->depth, &columns);
	name_write(v, v->function);
	fprintf(v->out, "(%s)", v->arguments);
	v->thread = NULL;
	return columns + columns_of(v->function->name) + 2 + columns_of(v->arguments);
}

int calls_view_flush(struct calls_view *v)
{
	if (v->thread) {
		entry_write(v);
		putc('\n', v->out);
	}
	return ferror(v->out) ? -EPIPE : 0;
}

static int take_text(struct calls_view *v, const struct call *call)
{
	size_t columns;

	if (call->kind == CALL_EXIT && v->thread == call->thread && v->number == call->number)
		return end_write(v, call, entry_write(v), 0);
	calls_view_flush(v);
	switch (call->kind) {
	case CALL_ENTRY:
		v->thread = call->thread;
		v->number = call->number;
		v->ns = call->ns;
		v->depth = call->depth;
		v->function = call->function;
		call_arguments(call, v->arguments, sizeof(v->arguments));
		return ferror(v->out) ? -EPIPE : 0;
	case CALL_WHOLE:
		v->thread = call->thread;
		v->ns = call->begin;
		v->depth = call->depth;
		v->function = call->function;
		call_arguments(call, v->arguments, sizeof(v->arguments));
		return end_write(v, call, entry_write(v), 0);
	case CALL_EXIT:
		begin_write(v, call->ns, call->thread, call->depth, &columns);
		name_write(v, call->function);
		return end_write(v, call, columns + columns_of(call->function->name), 1);
	case CALL_LOST:
		break;
	}
	fprintf(v->out, "%s", colour_begin(COLOUR_ERROR));
	if (call->lost)
		fprintf(v->out, "-- %" PRIu64 " events are lost here", call->lost);
	else
		fprintf(v->out, "-- %s are missing here", call->stream ? "events" : "calls");
	fprintf(v->out, "%s\n", colour_end(COLOUR_ERROR));
	return ferror(v->out) ? -EPIPE : 0;
}

/* ---- JSON ---- */

static int take_json(struct calls_view *v, const struct call *call)
{
	static const char *const kinds[] = { "entry", "exit", "call", "lost" };
	const char *left = call_left_text(call->left);
	FILE *out = v->out;

	fprintf(out, "{\"kind\":\"%s\",\"time\":%" PRId64, kinds[call->kind],
		call->kind == CALL_WHOLE ? call->begin : call->ns);
	if (call->kind == CALL_LOST) {
		fprintf(out, ",\"events\":%" PRIu64 "}\n", call->lost);
		return ferror(out) ? -EPIPE : 0;
	}
	fprintf(out, ",\"process\":%" PRId64 ",\"thread\":%" PRId64 ",\"depth\":%u,\"function\":", call->thread->process->pid,
		call->thread->tid, call->depth);
	json_string(out, call->function->name);
	if (*call->function->object) {
		fputs(",\"object\":", out);
		json_string(out, call->function->object);
	}
	if (call->number)
		fprintf(out, ",\"call\":%" PRIu64, call->number);
	if (call->kind != CALL_EXIT && call->event) {
		fputs(",\"arguments\":", out);
		call_arguments_json(call, out);
	}
	if (call->kind != CALL_ENTRY) {
		if (call_result(call, v->result, sizeof(v->result))) {
			fputs(",\"result\":", out);
			call_result_json(call, out);
		}
		if (call->begin != INT64_MIN)
			fprintf(out, ",\"duration\":%" PRId64 ",\"self\":%" PRId64, call->ns - call->begin, call->self);
		if (left)
			fprintf(out, ",\"left\":\"%s\"", left);
	}
	fputs("}\n", out);
	return ferror(out) ? -EPIPE : 0;
}

int calls_view_take(void *view, const struct call *call)
{
	struct calls_view *v = view;

	return v->format == FORMAT_JSON ? take_json(v, call) : take_text(v, call);
}
