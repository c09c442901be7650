/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What was recorded, as text. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "reader/base/text.h"
#include "reader/views/info.h"

#define NAMES_SHOWN	5u	/* functions of one reason, processes of one rule */

/* ---- in ---- */

static int count_one(uint64_t **counts, uint32_t *room, uint32_t at)
{
	if (at >= *room) {
		uint32_t more = *room ? *room : 64;
		uint64_t *grown;

		while (more <= at)
			more *= 2;
		grown = realloc(*counts, more * sizeof(*grown));
		if (!grown)
			return -1;
		memset(grown + *room, 0, (more - *room) * sizeof(*grown));
		*counts = grown;
		*room = more;
	}
	(*counts)[at]++;
	return 0;
}

int info_take(void *data, const struct call *call)
{
	struct info *info = data;

	if (call->kind != CALL_ENTRY && call->kind != CALL_WHOLE)
		return 0;
	return count_one(&info->of_function, &info->function_room, call->function->number) < 0 ||
		count_one(&info->of_process, &info->process_room, call->thread->process->number) < 0 ||
		count_one(&info->of_thread, &info->thread_room, call->thread->number) < 0 ? -ENOMEM : 0;
}

/* OBJECT:FUNCTION, a tab, the reason */
int info_declined_read(struct info *info, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int r = 0;

	while (r == 0 && file && getline(&line, &size, file) >= 0) {
		char *tab = strchr(line, '\t');
		struct declined *more = info->declined;

		line[strcspn(line, "\n")] = 0;
		if (!tab)
			continue;
		*tab = 0;
		text_clean(line);
		text_clean(tab + 1);
		if (info->declined_count == info->declined_room) {
			info->declined_room = info->declined_room ? info->declined_room * 2 : 64;
			more = realloc(more, info->declined_room * sizeof(*more));
		}
		if (!more) {
			r = -ENOMEM;
			break;
		}
		info->declined = more;
		more[info->declined_count] = (struct declined) { strdup(line), strdup(tab + 1) };
		r = more[info->declined_count].function && more[info->declined_count].reason ? 0 : -ENOMEM;
		info->declined_count++;
	}
	free(line);
	if (file)
		fclose(file);
	return r;
}

void info_free(struct info *info)
{
	for (size_t i = 0; i < info->declined_count; i++) {
		free(info->declined[i].function);
		free(info->declined[i].reason);
	}
	free(info->declined);
	free(info->of_function);
	free(info->of_process);
	free(info->of_thread);
}

/* ---- sums ---- */

uint64_t info_function_calls(const struct info *info, uint32_t number)
{
	return number < info->function_room ? info->of_function[number] : 0;
}

uint64_t info_process_calls(const struct info *info, const struct call_process *process)
{
	return process->number < info->process_room ? info->of_process[process->number] : 0;
}

uint32_t info_process_threads(const struct info *info, const struct call_process *process)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < info->calls->thread_count && i < info->thread_room; i++)
		n += info->of_thread[i] && info->calls->thread_list[i]->process == process;
	return n;
}

uint64_t info_object_calls(const struct info *info, const char *path)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < info->calls->function_count && i < info->function_room; i++)
		if (!strcmp(info->calls->function_list[i]->path, path))
			n += info->of_function[i];
	return n;
}

const char *info_file_text(const struct info *info, const struct fact_object *fact)
{
	struct object *o = names_objects(&info->calls->merge);

	while (o && (fact->begin ? o->build_id != fact->begin : o->build_id || strcmp(o->path, fact->path)))
		o = o->next;
	switch (o ? symbols_state(names_symbols(o)) : SYMBOLS_NO_FILE) {
	case SYMBOLS_HERE:
		return "its file is here";
	case SYMBOLS_OTHER_FILE:
		return "the file here is of another build";
	case SYMBOLS_NO_FILE:
		break;
	}
	return "its file is not here";
}

const struct fact_object *info_object_next(const struct info *info, const struct fact_object *after)
{
	const struct fact_object *o = after ? after->next : info->facts->objects, *twin;

	for (; o; o = o->next) {
		for (twin = info->facts->objects; twin != o; twin = twin->next)
			if (!strcmp(twin->path, o->path) && !strcmp(twin->build_id, o->build_id))
				break;
		if (twin == o)
			break;
	}
	return o;
}

/* ---- text ---- */

static void head(FILE *out, const char *name)
{
	fprintf(out, "%s%-18s%s", colour_begin(COLOUR_HEAD), name, colour_end(COLOUR_HEAD));
}

/* The date, and the time as all views have it. */
static void moment(FILE *out, int64_t ns)
{
	const time_t seconds = (time_t) (ns / 1000000000);
	struct tm tm;
	char date[40] = "", text[32];

	if (localtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d ", &tm);
	time_text(ns, text);
	fprintf(out, "%s%s", date, text);
}

static void traces_text(const struct facts *f, FILE *out)
{
	char duration[32];

	if (f->first <= f->last) {
		head(out, "recorded");
		moment(out, f->first);
		fputs(" to ", out);
		moment(out, f->last);
		duration_text(f->last - f->first, duration);
		fprintf(out, ", %s\n", duration);
	}
	for (const struct fact_trace *t = f->traces; t; t = t->next) {
		head(out, "session");
		fprintf(out, "%s%s%s%s%s%s%s%s\n", *t->session ? t->session : "(no name)", *t->host ? " on " : "", t->host,
			*t->tracer ? ", " : "", t->tracer, *t->buffering ? ", buffers by " : "", t->buffering,
			*t->created ? "" : ", creation time not known");
	}
}

static int is_same_rule(const struct fact_rule *a, const struct fact_rule *b)
{
	return a->is_tree == b->is_tree && a->instrumented == b->instrumented && a->declined == b->declined &&
		!strcmp(a->text, b->text);
}

static const char *process_name(const struct info *info, const struct fact_rule *rule)
{
	for (uint32_t i = 0; i < info->calls->process_count; i++)
		if (info->calls->process_list[i]->trace == rule->trace && info->calls->process_list[i]->pid == rule->pid)
			return info->calls->process_list[i]->name;
	return "";
}

/* A line for all processes in which the rule came to the same. */
static void rules_text(const struct info *info, FILE *out)
{
	for (const struct fact_rule *r = info->facts->rules, *same; r; r = r->next) {
		uint32_t n = 0;

		for (same = info->facts->rules; same != r && !is_same_rule(same, r); same = same->next)
			;
		if (same != r)
			continue;
		head(out, "rule");
		fprintf(out, r->is_tree ? "%s: a tree that begins at %" PRIu64 " functions, %" PRIu64 " not instrumented" :
			"%s: %" PRIu64 " functions, %" PRIu64 " not instrumented", r->text, r->instrumented, r->declined);
		for (; same; same = same->next) {
			if (!is_same_rule(same, r))
				continue;
			if (n++ >= NAMES_SHOWN)
				continue;
			fputs(n > 1 ? ", " : "; in process ", out);
			fprintf(out, same->pid < 0 ? "(id not recorded)" : "%" PRId64 " %s", same->pid, process_name(info, same));
		}
		if (n > NAMES_SHOWN)
			fprintf(out, " and %u more", n - NAMES_SHOWN);
		putc('\n', out);
	}
}

static void processes_text(const struct info *info, FILE *out)
{
	const struct calls *c = info->calls;

	for (uint32_t i = 0; i < c->process_count; i++) {
		const struct call_process *p = c->process_list[i];
		const char *between = ": ";

		head(out, "process");
		fprintf(out, "%" PRId64 " %s, %u threads with calls, %" PRIu64 " calls", p->pid, *p->name ? p->name : "(no name)",
			info_process_threads(info, p), info_process_calls(info, p));
		for (const struct fact_program *program = info->facts->programs; program; program = program->next)
			if (program->trace == p->trace && program->pid == p->pid) {
				fprintf(out, "%s%s", between, program->path);
				between = ", ";
			}
		putc('\n', out);
	}
}

static void events_text(const struct info *info, FILE *out)
{
	static const char *const kinds[] = { "of typed calls", "of whole calls", "of trees' calls",
		"batches of compact records", "of messages: lttng-spi flow", "other: state dump, names" };
	uint32_t functions = 0;

	for (int i = 0; i < FACT_KINDS; i++) {
		if (!info->facts->events[i])
			continue;
		head(out, "events");
		fprintf(out, "%10" PRIu64 "  %s", info->facts->events[i], kinds[i]);
		if (i == FACT_BATCH)
			fprintf(out, ", with %" PRIu64 " records", facts_records(info->facts));
		putc('\n', out);
	}
	for (uint32_t i = 0; i < info->function_room; i++)
		functions += info->of_function[i] != 0;
	head(out, "calls");
	fprintf(out, "%10" PRIu64 "  of %u functions\n", info->calls->number, functions);
}

/* What a rule with -f has instrumented, as far as the trace describes events of it, and nobody called. */
static void uncalled_text(const struct info *info, FILE *out)
{
	uint32_t typed = 0, uncalled = 0;

	for (uint32_t i = 0; i < info->calls->function_count; i++) {
		typed += info->calls->function_list[i]->is_typed;
		uncalled += info->calls->function_list[i]->is_typed && !info_function_calls(info, i);
	}
	if (!typed)
		return;
	head(out, "functions");
	fprintf(out, "%10u  have typed events, %u without a call%s", typed, uncalled, uncalled ? ": " : "\n");
	for (uint32_t i = 0, n = 0; i < info->calls->function_count && uncalled; i++) {
		if (!info->calls->function_list[i]->is_typed || info_function_calls(info, i))
			continue;
		if (n < NAMES_SHOWN)
			fprintf(out, "%s%s", n ? ", " : "", info->calls->function_list[i]->name);
		if (++n == uncalled)
			fputs(n > NAMES_SHOWN ? ", ...\n" : "\n", out);
	}
}

static void objects_text(const struct info *info, FILE *out)
{
	for (const struct fact_object *o = NULL; (o = info_object_next(info, o)); ) {
		head(out, "object");
		fprintf(out, "%s, %s %s", o->path, *o->build_id ? "build-id" : "no build-id", o->build_id);
		if (info_object_calls(info, o->path))
			fprintf(out, ", %" PRIu64 " calls", info_object_calls(info, o->path));
		fprintf(out, "; %s\n", info_file_text(info, o));
	}
}

static void missing_text(const struct info *info, FILE *out)
{
	const struct merge *m = &info->calls->merge;
	int is_any = 0;

	for (const struct fact_channel *c = info->facts->channels; c; c = c->next, is_any = 1) {
		head(out, "lost");
		fprintf(out, "channel %s: %" PRIu64 " events, %" PRIu64 " packets, in %" PRIu64 " places\n", c->name, c->events,
			c->packets, c->times);
	}
	if (m->gaps) {
		head(out, "lost");
		fprintf(out, "batches of compact records in %" PRIu64 " places: lost, or the rule was off then\n", m->gaps);
		is_any = 1;
	}
	if (m->unknown) {
		head(out, "left out");
		fprintf(out, "%" PRIu64 " compact records: of another rule, or not described in the trace\n", m->unknown);
	}
	if (!is_any) {
		head(out, "lost");
		fputs("nothing\n", out);
	}
	for (const struct fact_left_out *l = info->facts->left_out; l; l = l->next) {
		head(out, "budget");
		fprintf(out, "%s: %s, of a budget of %u %%\n", l->name, l->is_out ? "left out" : "left out, then recorded again",
			l->budget);
	}
}

static int declined_compare(const void *a, const void *b)
{
	const struct declined *x = a, *y = b;
	const int r = strcmp(x->reason, y->reason);

	return r ? r : strcmp(x->function, y->function);
}

static void declined_text(const struct info *info, FILE *out)
{
	size_t end;

	for (size_t i = 0; i < info->declined_count; i = end) {
		end = i;
		while (end < info->declined_count && !strcmp(info->declined[end].reason, info->declined[i].reason))
			end++;
		head(out, "not instrumented");
		fprintf(out, "%zu, %s: ", end - i, info->declined[i].reason);
		for (size_t k = i; k < end && k < i + NAMES_SHOWN; k++)
			fprintf(out, "%s%s", k > i ? ", " : "", info->declined[k].function);
		fputs(end - i > NAMES_SHOWN ? ", ...\n" : "\n", out);
	}
}

int info_write(struct info *info, enum format format, FILE *out)
{
	if (info->declined_count)
		qsort(info->declined, info->declined_count, sizeof(*info->declined), declined_compare);
	if (format == FORMAT_JSON) {
		info_json(info, out);
		return output_status(out);
	}
	traces_text(info->facts, out);
	rules_text(info, out);
	processes_text(info, out);
	events_text(info, out);
	uncalled_text(info, out);
	objects_text(info, out);
	missing_text(info, out);
	declined_text(info, out);
	return output_status(out);
}
