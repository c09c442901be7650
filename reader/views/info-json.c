/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What was recorded, as JSON. */
#include <inttypes.h>
#include "reader/base/text.h"
#include "reader/views/info.h"

static void member(FILE *out, const char *head, const char *text)
{
	fputs(head, out);
	json_string(out, text);
}

static void processes_json(const struct info *info, FILE *out)
{
	const struct calls *c = info->calls;

	fputs("],\n\"processes\":[", out);
	for (uint32_t i = 0; i < c->process_count; i++) {
		const struct call_process *p = c->process_list[i];
		const char *between = "";

		fprintf(out, "%s\n{\"pid\":%" PRId64, i ? "," : "", p->pid);
		member(out, ",\"name\":", p->name);
		fprintf(out, ",\"threads\":%u,\"calls\":%" PRIu64 ",\"programs\":[", info_process_threads(info, p),
			info_process_calls(info, p));
		for (const struct fact_program *program = info->facts->programs; program; program = program->next)
			if (program->trace == p->trace && program->pid == p->pid) {
				member(out, between, program->path);
				between = ",";
			}
		fputs("]}", out);
	}
}

static void rules_json(const struct info *info, FILE *out)
{
	fputs("],\n\"rules\":[", out);
	for (const struct fact_rule *r = info->facts->rules; r; r = r->next) {
		member(out, r == info->facts->rules ? "\n{\"rule\":" : ",\n{\"rule\":", r->text);
		fprintf(out, ",\"kind\":\"%s\",\"pid\":%" PRId64 ",\"instrumented\":%" PRIu64 ",\"declined\":%" PRIu64 "}",
			r->is_tree ? "tree" : "functions", r->pid, r->instrumented, r->declined);
	}
}

static void objects_json(const struct info *info, FILE *out)
{
	fputs(",\n\"objects\":[", out);
	for (const struct fact_object *o = NULL; (o = info_object_next(info, o)); ) {
		member(out, o == info->facts->objects ? "\n{\"path\":" : ",\n{\"path\":", o->path);
		member(out, ",\"build_id\":", o->build_id);
		fprintf(out, ",\"calls\":%" PRIu64 ",\"file\":\"%s\"}", info_object_calls(info, o->path),
			info_file_text(info, o));
	}
}

static void typed_json(const struct info *info, FILE *out)
{
	const char *between = "\n{\"name\":";

	fputs("],\n\"typed_functions\":[", out);
	for (uint32_t i = 0; i < info->calls->function_count; i++) {
		if (!info->calls->function_list[i]->is_typed)
			continue;
		member(out, between, info->calls->function_list[i]->name);
		fprintf(out, ",\"calls\":%" PRIu64 "}", info_function_calls(info, i));
		between = ",\n{\"name\":";
	}
}

static void missing_json(const struct info *info, FILE *out)
{
	const struct facts *f = info->facts;

	fputs("],\n\"lost\":[", out);
	for (const struct fact_channel *c = f->channels; c; c = c->next) {
		member(out, c == f->channels ? "\n{\"channel\":" : ",\n{\"channel\":", c->name);
		fprintf(out, ",\"events\":%" PRIu64 ",\"packets\":%" PRIu64 ",\"places\":%" PRIu64 "}", c->events, c->packets,
			c->times);
	}
	fprintf(out, "],\n\"gaps\":%" PRIu64 ",\"records_left_out\":%" PRIu64 ",\n\"left_out_by_budget\":[",
		info->calls->merge.gaps, info->calls->merge.unknown);
	for (const struct fact_left_out *l = f->left_out; l; l = l->next) {
		member(out, l == f->left_out ? "\n{\"function\":" : ",\n{\"function\":", l->name);
		fprintf(out, ",\"budget\":%u,\"recorded_again\":%s}", l->budget, l->is_out ? "false" : "true");
	}
	fputs("],\n\"not_instrumented\":[", out);
	for (size_t i = 0; i < info->declined_count; i++) {
		member(out, i ? ",\n{\"function\":" : "\n{\"function\":", info->declined[i].function);
		member(out, ",\"reason\":", info->declined[i].reason);
		putc('}', out);
	}
}

void info_json(const struct info *info, FILE *out)
{
	static const char *const kinds[] = { "typed", "whole", "tree", "batches", "messages", "other" };
	const struct facts *f = info->facts;
	uint32_t functions = 0;

	putc('{', out);
	if (f->first <= f->last)
		fprintf(out, "\"first\":%" PRId64 ",\"last\":%" PRId64 ",\n", f->first, f->last);
	fputs("\"sessions\":[", out);
	for (const struct fact_trace *t = f->traces; t; t = t->next) {
		member(out, t == f->traces ? "\n{\"name\":" : ",\n{\"name\":", t->session);
		member(out, ",\"host\":", t->host);
		member(out, ",\"tracer\":", t->tracer);
		member(out, ",\"buffers\":", t->buffering);
		member(out, ",\"created\":", t->created);
		putc('}', out);
	}
	rules_json(info, out);
	processes_json(info, out);
	fputs("],\n\"events\":{", out);
	for (int i = 0; i < FACT_KINDS; i++)
		fprintf(out, "\"%s\":%" PRIu64 ",", kinds[i], f->events[i]);
	for (uint32_t i = 0; i < info->function_room; i++)
		functions += info->of_function[i] != 0;
	fprintf(out, "\"records\":%" PRIu64 "},\n\"calls\":%" PRIu64 ",\"functions\":%u", facts_records(f),
		info->calls->number, functions);
	objects_json(info, out);
	typed_json(info, out);
	missing_json(info, out);
	fputs("]}\n", out);
}
