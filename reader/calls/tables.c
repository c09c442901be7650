/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Functions, processes and threads, each known by a number from 0 on.
 *
 * A thread is known by its trace, vpid and vtid. In pid namespaces these may be the same for several threads: compact
 * records say which process they are of, and get a process of their own then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/calls/calls.h"

/* Room for one more in a list of pointers: 0 or -1. */
static int list_grow(void *list, uint32_t count, uint32_t *room)
{
	void **old = *(void ***) list, **more;

	if (count < *room)
		return 0;
	more = realloc(old, (*room ? *room * 2 : 64) * sizeof(*more));
	if (!more)
		return -1;
	*(void ***) list = more;
	*room = *room ? *room * 2 : 64;
	return 0;
}

/* ---- functions, processes, threads ---- */

struct call_function *call_function_get(struct calls *c, const char *path, uint64_t offset, const char *name, int is_typed)
{
	const uint64_t hash = spi_hash_number(spi_hash_text(spi_hash_text(SPI_HASH_SEED, path), name) ^ offset);
	struct call_function *f = spi_hash_find(&c->functions, hash);
	size_t size = strlen(name) + 1;

	while (f && (f->offset != offset || f->is_typed != is_typed || strncmp(f->key, name, size - 1) || strcmp(f->key + size - 1, path)))
		f = spi_hash_again(&f->link);
	if (f)
		return f;
	f = list_grow(&c->function_list, c->function_count, &c->function_room) < 0 ? NULL :
		calloc(1, sizeof(*f) + 2 * (size + strlen(path) + 1));
	if (!f)
		return NULL;
	memcpy(f->name, name, size);
	f->path = strcpy(f->name + size, path);
	f->key = strcat(strcpy(f->name + size + strlen(path) + 1, name), path);
	text_clean(f->name);
	text_clean(f->name + size);
	f->object = last_part(f->path);
	f->offset = offset;
	f->is_typed = (uint8_t) is_typed;
	f->number = c->function_count;
	filter_function(&c->filter, f);
	c->function_list[c->function_count++] = f;
	spi_hash_add(&c->functions, &f->link, hash);
	return f;
}

void call_function_line(struct calls *c, struct call_function *f, const struct object *object)
{
	const struct source_place *place = c->has_lines ? names_line(object, f->offset) : NULL;

	if (place) {
		f->file = place->lines[0].file;
		f->line = place->lines[0].line;
	}
}

struct call_function *call_function_of(struct calls *c, struct space *space, struct function *function,
	uint64_t address)
{
	if (!function)
		function = names_make(&c->merge, space, address);
	if (function && !function->own) {
		struct call_function *f = call_function_get(c, function->object->path, function->offset, function->name, 0);

		if (f)
			call_function_line(c, f, function->object);
		function->own = f;
	}
	return function ? function->own : NULL;
}

const char *call_function_place(const struct call_function *f, char *text, size_t size)
{
	*text = 0;
	if (f->file)
		snprintf(text, size, " at %s:%u", last_part(f->file), f->line);
	return text;
}

void function_place_json(const struct call_function *f, FILE *out)
{
	if (!f->file)
		return;
	fputs(",\"file\":", out);
	json_string(out, f->file);
	fprintf(out, ",\"line\":%u", f->line);
}

const char *call_site_place(const struct call *call, char *text, size_t size)
{
	const struct source_place *place = names_site(call->space, call->call_site);

	*text = 0;
	if (place)
		snprintf(text, size, " from %s%s%s:%u", place->lines[0].inlined ? place->lines[0].inlined : "",
			place->lines[0].inlined ? " inlined at " : "", last_part(place->lines[0].file), place->lines[0].line);
	return text;
}

const char *call_caller_place(struct space *space, uint64_t address, char *text, size_t size)
{
	const struct source_place *place = names_site(space, address);

	*text = 0;
	if (place && place->lines[0].inlined)
		snprintf(text, size, " in %s inlined at %s:%u", place->lines[0].inlined, last_part(place->lines[0].file),
			place->lines[0].line);
	else if (place)
		snprintf(text, size, " at %s:%u", last_part(place->lines[0].file), place->lines[0].line);
	return text;
}

/* image: of compact records, else 0. */
static struct call_process *process_of(struct calls *c, const bt_trace *trace, int64_t pid, uint64_t image)
{
	const uint64_t hash = spi_hash_number((uintptr_t) trace ^ (uint64_t) pid);
	struct call_process *p = spi_hash_find(&c->processes, hash);

	while (p && (p->trace != trace || p->pid != pid || (image && p->image && p->image != image)))
		p = spi_hash_again(&p->link);
	if (p) {
		p->image = image ? image : p->image;
		return p;
	}
	p = list_grow(&c->process_list, c->process_count, &c->process_room) < 0 ? NULL : calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->trace = trace;
	p->pid = pid;
	p->image = image;
	p->number = c->process_count;
	filter_process(&c->filter, p);
	c->process_list[c->process_count++] = p;
	spi_hash_add(&c->processes, &p->link, hash);
	return p;
}

static struct call_thread *thread_of(struct calls *c, struct call_process *process, int64_t tid)
{
	const uint64_t hash = spi_hash_number((uintptr_t) process ^ (uint64_t) tid);
	struct call_thread *t = spi_hash_find(&c->threads, hash);

	while (t && (t->process != process || t->tid != tid))
		t = spi_hash_again(&t->link);
	if (t)
		return t;
	t = list_grow(&c->thread_list, c->thread_count, &c->thread_room) < 0 ? NULL : calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->process = process;
	t->tid = tid;
	t->number = c->thread_count;
	t->last = INT64_MIN;
	filter_thread(&c->filter, t);
	c->thread_list[c->thread_count++] = t;
	spi_hash_add(&c->threads, &t->link, hash);
	return t;
}

struct call_thread *call_thread_of_event(struct calls *c, const bt_event *event)
{
	const bt_stream *stream = bt_event_borrow_stream_const(event);
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	const bt_value *of_trace;
	uint64_t pid, tid;
	struct call_process *process;

	if (context_unsigned(event, "vpid", &pid) < 0) {
		of_trace = bt_trace_borrow_environment_entry_value_by_name_const(trace, "vpid");
		pid = of_trace && bt_value_is_signed_integer(of_trace) ? (uint64_t) bt_value_integer_signed_get(of_trace) :
			UINT64_MAX;
	}
	if (context_unsigned(event, "vtid", &tid) < 0) {
		c->has_no_vtid = 1;
		tid = ~bt_stream_get_id(stream);
	}
	process = process_of(c, trace, (int64_t) pid, 0);
	return process ? thread_of(c, process, (int64_t) tid) : NULL;
}

struct call_thread *call_thread_of_record(struct calls *c, struct thread *thread)
{
	const struct process *p = thread->process;
	struct call_process *process;

	if (!thread->own) {
		process = process_of(c, p->trace, p->vpid, p->name);
		thread->own = process ? thread_of(c, process, thread->tid) : NULL;
	}
	return thread->own;
}
