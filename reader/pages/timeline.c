/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The page of threads over time: what it is drawn from. reader/pages/web/ reads and draws it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/pages/levels.h"
#include "reader/pages/messages.h"
#include "reader/pages/pages.h"
#include "reader/views/report.h"

#define TEXT_MOST	2000u		/* bytes of the values of a call, each of arguments and result */
#define TEXTS_MOST	((size_t) 256 << 20)	/* of whole calls, which wait for the end */
#define MARKS_MOST	10000u

struct mark {
	int64_t ns;
	uint64_t lost;
};

struct timeline {
	struct levels levels;
	struct report *report;
	struct wholes wholes;
	struct messages messages;
	char *texts;			/* of whole calls: lengths of four bytes, and text; from offset 1 on */
	size_t text_size, text_room;
	struct mark marks[MARKS_MOST];
	uint32_t mark_count;
	uint64_t marks_missing, texts_missing, entries_missing;
	int64_t origin, first, last;	/* ns; first, last: from origin */
	int has_origin;
};

struct timeline *timeline_make(size_t size)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->report = report_make(BY_FUNCTION);
	t->text_size = 1;
	if (!t->report || levels_init(&t->levels, size / 4 * 3) < 0) {
		timeline_free(t);
		return NULL;
	}
	return t;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	levels_free(&t->levels);
	report_free(t->report);
	wholes_free(&t->wholes);
	messages_free(&t->messages);
	free(t->texts);
	free(t);
}

/* ---- calls ---- */

struct text {
	size_t size;
	char bytes[2 * TEXT_MOST + 2];	/* arguments, NUL, result */
};

static void text_make(struct text *text, const struct call *call, const char *arguments)
{
	size_t n = 0;

	if (arguments)
		n = strlen(strcpy(text->bytes, arguments));
	else if (call->kind == CALL_WHOLE)
		n = call_arguments(call, text->bytes, TEXT_MOST);
	text->bytes[n++] = 0;
	text->bytes[n] = 0;
	if (call->event && call->values)
		n += call_result(call, text->bytes + n, TEXT_MOST);
	text->size = n > 1 ? n : 0;
}

static int call_add(struct timeline *t, const struct level_call *call)
{
	struct level_call from_origin = *call;

	from_origin.begin -= t->origin;
	if (from_origin.begin < t->first)
		t->first = from_origin.begin;
	if (from_origin.begin + call->duration > t->last)
		t->last = from_origin.begin + call->duration;
	return levels_add(&t->levels, &from_origin);
}

static int call_end(struct timeline *t, const struct call *call)
{
	char **arguments = (char **) &call->thread->stack[call->thread->depth].own;	/* just taken off */
	const struct level_call done = { .thread = call->thread->number, .function = call->function->number,
		.depth = call->depth, .begin = call->begin, .duration = call->ns - call->begin,
		.inner = call->ns - call->begin - call->self, .left = call->left };
	struct level_call with_text = done;
	struct text text;		/* large: it is not initialised for each call */
	int r;

	if (*arguments || call->event) {
		text_make(&text, call, *arguments);
		with_text.text = text.bytes;
		with_text.text_size = text.size;
	}
	r = call_add(t, &with_text);
	free(*arguments);
	*arguments = NULL;
	return r;
}

static int whole_keep(struct timeline *t, const struct call *call)
{
	struct text text;
	uint32_t size;
	uint64_t at = 0;

	text_make(&text, call, NULL);
	size = (uint32_t) text.size;
	if (size && t->text_size + sizeof(size) + size > TEXTS_MOST) {
		t->texts_missing++;
	} else if (size) {
		if (t->text_size + sizeof(size) + size > t->text_room) {
			size_t room = t->text_room * 2 + sizeof(text) + 1;
			char *more = realloc(t->texts, room);

			if (!more)
				return -ENOMEM;
			t->texts = more;
			t->text_room = room;
		}
		at = t->text_size;
		memcpy(t->texts + at, &size, sizeof(size));
		memcpy(t->texts + at + sizeof(size), text.bytes, size);
		t->text_size += sizeof(size) + size;
	}
	return wholes_add(&t->wholes, call, at);
}

static int whole_take(void *timeline, const struct whole_call *w, uint32_t depth)
{
	struct timeline *t = timeline;
	struct level_call call = { .thread = w->thread->number, .function = w->function->number, .depth = depth,
		.begin = w->begin, .duration = w->end - w->begin, .inner = w->end - w->begin - w->self, .left = w->left };
	uint32_t size;

	if (w->own) {
		memcpy(&size, t->texts + w->own, sizeof(size));
		call.text = t->texts + w->own + sizeof(size);
		call.text_size = size;
	}
	return call_add(t, &call);
}

/* The entry's values wait for its exit. */
static int arguments_keep(const struct call *call)
{
	struct open_call *open = &call->thread->stack[call->thread->depth - 1];
	char text[TEXT_MOST];

	if (!call->event || !call->values || !call_arguments(call, text, sizeof(text)))
		return 0;
	open->own = strdup(text);
	return open->own ? 0 : -ENOMEM;
}

int timeline_take(void *timeline, const struct call *call)
{
	struct timeline *t = timeline;
	int r = report_take(t->report, call);

	if (r < 0)
		return r;
	if (!t->has_origin) {
		t->origin = call->ns;
		t->has_origin = 1;
	}
	switch (call->kind) {
	case CALL_ENTRY:
		return arguments_keep(call);
	case CALL_EXIT:
		if (call->begin != INT64_MIN)
			return call_end(t, call);
		t->entries_missing++;
		return 0;
	case CALL_WHOLE:
		return whole_keep(t, call);
	case CALL_LOST:
		if (t->mark_count < MARKS_MOST)
			t->marks[t->mark_count++] = (struct mark) { call->ns - t->origin, call->lost };
		else
			t->marks_missing++;
		return 0;
	case CALL_EVENT:
		break;
	}
	return 0;
}

int timeline_message(void *timeline, const struct flow_message *message)
{
	struct timeline *t = timeline;

	return messages_take(&t->messages, message);
}

/* ---- the page ---- */

static void names_write(const struct timeline *t, const struct calls *calls, FILE *out)
{
	fputs(",\n\"functions\":[", out);
	for (uint32_t i = 0; i < calls->function_count; i++) {
		fputs(i ? ",\n[" : "\n[", out);
		json_string(out, calls->function_list[i]->name);
		putc(',', out);
		json_string(out, calls->function_list[i]->object);
		putc(']', out);
	}
	fputs("],\n\"threads\":[", out);
	for (uint32_t i = 0; i < calls->thread_count; i++) {
		const struct call_thread *thread = calls->thread_list[i];

		fputs(i ? ",\n[" : "\n[", out);
		json_string(out, thread->process->name);
		fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRIu32 "]", thread->process->pid, thread->tid,
			levels_depth(&t->levels, i));
	}
	putc(']', out);
}

static void rows_write(const struct report *report, FILE *out)
{
	const char *between = "\n";

	fputs(",\n\"rows\":[", out);
	for (uint32_t i = 0; i < report->count; i++) {
		const struct row *row = report->rows[i];

		if (!row->calls)
			continue;
		fprintf(out, "%s[%" PRIu32 ",%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]", between,
			row->function->number, row->calls, row->total, row->self, row->times.min, row->times.max);
		between = ",\n";
	}
	putc(']', out);
}

static void chunks_write(const struct levels *l, FILE *out)
{
	const char *between = "\n";

	fputs(",\n\"chunks\":[", out);
	for (uint32_t i = 0; i < l->chunk_count; i++) {
		const struct level_chunk *c = &l->chunks[i];

		if (!c->size)
			continue;
		fprintf(out, "%s[%d,%" PRIu32 ",%" PRIu32 ",%" PRId64 ",%" PRId64 "]", between, c->is_blocks, c->level,
			c->count, c->begin, c->end);
		between = ",\n";
	}
	putc(']', out);
}

struct timeline_given {
	struct timeline *timeline;
	const struct calls *calls;
	const char *title;
};

static int about_write(void *given, FILE *out)
{
	const struct timeline_given *g = given;
	struct timeline *t = g->timeline;
	const struct calls *calls = g->calls;
	uint64_t kept = 0, merged = 0;
	int r;

	for (uint32_t i = 0; i < LEVELS; i++)
		*(i < t->levels.least ? &merged : &kept) += t->levels.counts[i];
	fputs("{\"title\":", out);
	json_string(out, g->title);
	page_date_write(t->origin, out);
	fprintf(out, ",\"first\":%" PRId64 ",\"last\":%" PRId64, t->first, t->last);
	fprintf(out, ",\"least\":%" PRIu32 ",\"kept\":%" PRIu64 ",\"merged\":%" PRIu64 ",\"too_deep\":%" PRIu64
		",\"texts_missing\":%" PRIu64 ",\"entries_missing\":%" PRIu64 ",\"exits_missing\":%" PRIu64 ",\"open\":%" PRIu64
		",\"lost\":%" PRIu64 ",\"gaps\":%" PRIu64, t->levels.least, kept, merged, t->levels.too_deep, t->texts_missing,
		t->entries_missing, t->report->no_exit, t->report->open, t->report->lost, t->report->missing);
	names_write(t, calls, out);
	rows_write(t->report, out);
	chunks_write(&t->levels, out);
	fputs(",\n\"marks\":[", out);
	for (uint32_t i = 0; i < t->mark_count; i++)
		fprintf(out, "%s[%" PRId64 ",%" PRIu64 "]", i ? "," : "", t->marks[i].ns, t->marks[i].lost);
	putc(']', out);
	r = messages_write(&t->messages, t->origin, out);
	putc('}', out);
	return r;
}

/* Threads that have messages alone are shown, too. */
static void messages_reach(struct timeline *t)
{
	if (!t->messages.all)
		return;
	if (!t->has_origin)
		t->origin = t->messages.first;
	if (t->messages.first - t->origin < t->first)
		t->first = t->messages.first - t->origin;
	if (t->messages.last - t->origin > t->last)
		t->last = t->messages.last - t->origin;
}

int timeline_write(struct timeline *t, const struct calls *calls, const char *title, FILE *out)
{
	uint32_t number = 0;
	int r = wholes_give(&t->wholes, whole_take, t);

	messages_reach(t);
	if (r == 0)
		r = levels_end(&t->levels);
	if (r == 0)
		r = page_begin(PAGE_TIMELINE, out);
	if (r < 0)
		return r;
	r = page_part("id=\"about\"", about_write, &(struct timeline_given) { t, calls, title }, out);
	for (uint32_t i = 0; r == 0 && i < t->levels.chunk_count; i++) {
		const struct level_chunk *c = &t->levels.chunks[i];

		if (!c->size)
			continue;
		fprintf(out, "<script type=\"text/plain\" id=\"c%" PRIu32 "\">", number++);
		base64_write(out, c->data, c->size);
		fputs("</script>\n", out);
		if (ferror(out))
			r = -EPIPE;
	}
	return r == 0 ? page_end(PAGE_TIMELINE, out) : r;
}
