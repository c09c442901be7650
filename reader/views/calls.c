/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls as people read them: a line where a call begins and one where it ends, or one for both when nothing came
 * between.
 *
 *	12:47:45.199820 [96] shop::pay(k = Card, who = "ann")
 *	12:47:45.199831 [96]   shop::Basket::total(tax = true) = 42      <0.9 us>
 *	12:47:45.199836 [96] shop::pay = 1                               <1.9 us>
 *
 * Events that are no calls are lines between these. JSON is one object a line: an entry, an exit, a whole call, an
 * event, or what is lost.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/views/views.h"

#define DEEPEST		40u		/* no further to the right */
#define TEXT_MOST	16384u
#define BUFFER		(256u * 1024)	/* more than two lines */

struct calls_view {
	FILE *out;
	enum format format;
	char *line;			/* what is not written yet: stdio takes too long for millions of lines */
	size_t used;
	size_t begun;			/* where the line begins that is being made */
	size_t invisible;		/* bytes in it that take no column */
	/* the entry that may get its exit on the same line */
	struct call_thread *thread;	/* NULL: none */
	uint64_t number;
	int64_t ns;
	uint32_t depth;
	struct call_function *function;
	char site[600];			/* where it is called from; "": not known */
	char arguments[TEXT_MOST];
	char callers[TEXT_MOST];	/* a line each */
	char result[TEXT_MOST];
};

struct calls_view *calls_view_make(FILE *out, enum format format)
{
	struct calls_view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->line = malloc(BUFFER);
	if (!v->line) {
		free(v);
		return NULL;
	}
	v->out = out;
	v->format = format;
	return v;
}

void calls_view_free(struct calls_view *v)
{
	if (v)
		free(v->line);
	free(v);
}

/* ---- lines ---- */

static int write_out(struct calls_view *v)
{
	fwrite(v->line, 1, v->used, v->out);
	v->used = 0;
	return output_status(v->out);
}

static void put(struct calls_view *v, const char *text)
{
	const size_t n = strlen(text);

	memcpy(v->line + v->used, text, n);
	v->used += n;
}

/* Text that was recorded: it may have characters of several bytes. */
static void put_text(struct calls_view *v, const char *text)
{
	for (; *text; text++) {
		v->line[v->used++] = *text;
		v->invisible += ((unsigned char) *text & 0xc0) == 0x80;
	}
}

static void put_spaces(struct calls_view *v, size_t n)
{
	memset(v->line + v->used, ' ', n);
	v->used += n;
}

static void put_number(struct calls_view *v, uint64_t number)
{
	char text[24];
	size_t n = sizeof(text);

	do {
		text[--n] = (char) ('0' + number % 10);
	} while (number /= 10);
	memcpy(v->line + v->used, text + n, sizeof(text) - n);
	v->used += sizeof(text) - n;
}

static void put_colour(struct calls_view *v, const char *sequence)
{
	put(v, sequence);
	v->invisible += strlen(sequence);
}

static void put_in(struct calls_view *v, enum colour colour, const char *text)
{
	put_colour(v, colour_begin(colour));
	put_text(v, text);
	put_colour(v, colour_end(colour));
}

/* The line begins: time, thread, and as far to the right as the call is deep. */
static void line_begin(struct calls_view *v, int64_t ns, const struct call_thread *t, uint32_t depth)
{
	char time[32];

	v->begun = v->used;
	v->invisible = 0;
	time_text(ns, time);
	put_in(v, COLOUR_DIM, time);
	put(v, " ");
	if (t->tid >= 0) {
		put(v, "[");
		put_number(v, (uint64_t) t->tid);
		put(v, "] ");
	}
	put_spaces(v, 2 * (depth < DEEPEST ? depth : DEEPEST));
	if (depth > DEEPEST) {
		put(v, "(");
		put_number(v, depth);
		put(v, ") ");
	}
}

static int line_end(struct calls_view *v)
{
	v->line[v->used++] = '\n';
	put(v, v->callers);
	*v->callers = 0;
	return v->used > BUFFER / 2 ? write_out(v) : 0;
}

/* How the call ended, and how long it took, at the right. */
static int put_end(struct calls_view *v, const struct call *call, int is_alone)
{
	const char *left = call_left_text(call->left);
	const size_t right = terminal.width ? terminal.width : 80;
	char time[40] = "<";
	size_t length, columns;

	if (!left)
		call_result(call, v->result, sizeof(v->result));
	if (left) {
		put(v, " ");
		put_in(v, COLOUR_ERROR, left);
	} else if (*v->result) {
		put(v, " = ");
		put_in(v, COLOUR_VALUE, v->result);
	} else if (is_alone) {
		put(v, " returns");
	}
	if (call->begin != INT64_MIN) {
		duration_text(call->ns - call->begin, time + 1);
		strcat(time, ">");
		length = strlen(time);
		columns = v->used - v->begun - v->invisible;
		put_spaces(v, columns + length + 2 < right ? right - length - columns : 2);
		put_in(v, COLOUR_DIM, time);
	}
	return line_end(v);
}

static void put_place(struct calls_view *v)
{
	char text[600];

	if (v->function->file)
		put_in(v, COLOUR_DIM, call_function_place(v->function, text, sizeof(text)));
	if (*v->site)
		put_in(v, COLOUR_DIM, v->site);
}

/* The entry that waits, without the end of its line. */
static void put_entry(struct calls_view *v)
{
	line_begin(v, v->ns, v->thread, v->depth);
	put_in(v, COLOUR_FUNCTION, v->function->name);
	put(v, "(");
	put_text(v, v->arguments);
	put(v, ")");
	put_place(v);
	v->thread = NULL;
}

static int put_waiting(struct calls_view *v)
{
	if (!v->thread)
		return 0;
	put_entry(v);
	return line_end(v);
}

int calls_view_flush(struct calls_view *v)
{
	const int r = put_waiting(v);

	return r < 0 ? r : write_out(v);
}

int calls_view_idle(void *view)
{
	struct calls_view *v = view;
	const int r = calls_view_flush(v);

	return r < 0 ? r : fflush(v->out) ? -EPIPE : 0;
}

static void callers_keep(struct calls_view *v, const struct call *call)
{
	char frame[1500] = "";
	size_t used = 0;

	for (uint64_t i = 0; used + sizeof(frame) + 24 < sizeof(v->callers) &&
			call_caller(call, i, frame, sizeof(frame)); i++) {
		text_clean(frame);
		used += (size_t) snprintf(v->callers + used, sizeof(v->callers) - used, "%16sby %s\n", "", frame);
	}
}

static void entry_keep(struct calls_view *v, const struct call *call, int64_t ns)
{
	v->thread = call->thread;
	v->number = call->number;
	v->ns = ns;
	v->depth = call->depth;
	v->function = call->function;
	call_arguments(call, v->arguments, sizeof(v->arguments));
	*v->site = 0;
	if (call->call_site)
		call_site_place(call, v->site, sizeof(v->site));
	callers_keep(v, call);
}

static int put_event(struct calls_view *v, const struct call *call)
{
	line_begin(v, call->ns, call->thread, call->depth);
	call_event_text(call, v->arguments, sizeof(v->arguments));
	put_colour(v, colour_begin(COLOUR_DIM));
	put_text(v, call->function->name);
	if (*v->arguments) {
		put(v, ": ");
		put_text(v, v->arguments);
	}
	put_colour(v, colour_end(COLOUR_DIM));
	callers_keep(v, call);
	return line_end(v);
}

static int take_text(struct calls_view *v, const struct call *call)
{
	int r;

	if (call->kind == CALL_EXIT && v->thread == call->thread && v->number == call->number) {
		put_entry(v);
		return put_end(v, call, 0);
	}
	r = put_waiting(v);
	if (r < 0)
		return r;
	switch (call->kind) {
	case CALL_ENTRY:
		entry_keep(v, call, call->ns);
		return 0;
	case CALL_WHOLE:
		entry_keep(v, call, call->begin);
		put_entry(v);
		return put_end(v, call, 0);
	case CALL_EXIT:
		line_begin(v, call->ns, call->thread, call->depth);
		put_in(v, COLOUR_FUNCTION, call->function->name);
		return put_end(v, call, 1);
	case CALL_EVENT:
		return put_event(v, call);
	case CALL_LOST:
		break;
	}
	put_colour(v, colour_begin(COLOUR_ERROR));
	if (call->lost) {
		put(v, "-- ");
		put_number(v, call->lost);
		put(v, " events are lost here");
	} else {
		put(v, call->stream ? "-- events are lost here" : "-- calls are missing here");
	}
	put_colour(v, colour_end(COLOUR_ERROR));
	return line_end(v);
}

/* ---- JSON ---- */

static void put_place_json(const struct call *call, FILE *out)
{
	const struct source_place *place = call->kind == CALL_ENTRY && call->call_site ?
		names_site(call->space, call->call_site) : NULL;

	function_place_json(call->function, out);
	if (!place)
		return;
	fputs(",\"call_site\":{\"file\":", out);
	json_string(out, place->lines[0].file);
	fprintf(out, ",\"line\":%u,\"inlined\":[", place->lines[0].line);
	for (int i = 0; i < place->count && place->lines[i].inlined; i++) {
		fputs(i ? "," : "", out);
		json_string(out, place->lines[i].inlined);
	}
	fputs("]}", out);
}

static void callers_json(struct calls_view *v, const struct call *call)
{
	char frame[1500] = "";

	for (uint64_t i = 0; call_caller(call, i, frame, sizeof(frame)); i++) {
		fputs(i ? "," : ",\"callers\":[", v->out);
		json_string(v->out, frame);
	}
	if (*frame)
		putc(']', v->out);
}

static int take_json(struct calls_view *v, const struct call *call)
{
	static const char *const kinds[] = { "entry", "exit", "call", "lost", "event" };
	const char *left = call_left_text(call->left);
	FILE *out = v->out;

	fprintf(out, "{\"kind\":\"%s\",\"time\":%" PRId64, kinds[call->kind],
		call->kind == CALL_WHOLE ? call->begin : call->ns);
	if (call->kind == CALL_LOST) {
		fprintf(out, ",\"events\":%" PRIu64 "}\n", call->lost);
		return output_status(out);
	}
	fprintf(out, ",\"process\":%" PRId64 ",\"thread\":%" PRId64 ",\"depth\":%u", call->thread->process->pid,
		call->thread->tid, call->depth);
	if (call->kind == CALL_EVENT) {
		call_event_json(call, out);
		callers_json(v, call);
		fputs("}\n", out);
		return output_status(out);
	}
	fputs(",\"function\":", out);
	json_string(out, call->function->name);
	if (*call->function->object) {
		fputs(",\"object\":", out);
		json_string(out, call->function->object);
	}
	put_place_json(call, out);
	if (call->number)
		fprintf(out, ",\"call\":%" PRIu64, call->number);
	if (call->kind != CALL_EXIT && call->event) {
		fputs(",\"arguments\":", out);
		call_arguments_json(call, out);
		callers_json(v, call);
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
	return output_status(out);
}

int calls_view_take(void *view, const struct call *call)
{
	struct calls_view *v = view;

	return v->format == FORMAT_JSON ? take_json(v, call) : take_text(v, call);
}
