/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What is where in processes: an address becomes a place in an object (objects.c), and that a name.
 *
 * Which object is where in a process is told by its state dump, by what it loads and unloads, and by the event of a
 * function's name, as a snapshot has no state dump.
 *
 * Processes are told apart by the context vpid; a trace without that, which is not one process's alone, has no names.
 * Another dump of a process begins when it executes another program: what that does not tell of again is not there any
 * more.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/trace/objects.h"

struct place {
	struct place *next;
	uint64_t low, high;
	struct object *object;
	int64_t since, until;		/* ns: loaded, as far as the trace says; unloaded */
	int is_old;			/* a dump is under way and has not told of it */
};

struct space {
	struct space *next;
	const bt_trace *trace;
	uint64_t vpid;
	uint64_t dumps;
	int is_one;			/* process, as far as the trace says */
	struct place *places;		/* the one that was asked for last comes first */
	struct place *gone;		/* what was unloaded: records of its calls, and their sites, may come later */
};

/* ---- what is where ---- */

struct space *names_space(struct merge *m, const bt_event *event)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event));
	struct space *s, **at;
	uint64_t vpid = 0;
	const int has_vpid = !context_unsigned(event, "vpid", &vpid);

	for (at = &m->spaces; (s = *at) && (s->vpid != vpid || s->trace != trace); at = &s->next)
		;
	if (s) {
		*at = s->next;
	} else {
		s = calloc(1, sizeof(*s));
		if (!s)
			return NULL;
		s->trace = trace;
		s->vpid = vpid;
		s->is_one = has_vpid || bt_trace_borrow_environment_entry_value_by_name_const(trace, "vpid");
	}
	s->next = m->spaces;
	m->spaces = s;
	return s;
}

static struct place *place_at(struct space *s, uint64_t address)
{
	struct place *p, **at;

	for (at = &s->places; (p = *at) && (address < p->low || address >= p->high); at = &p->next)
		;
	if (p) {
		*at = p->next;
		p->next = s->places;
		s->places = p;
	}
	return p;
}

/* What lies there, or is old and `only_old`, is not there any more. */
static void places_drop(struct space *s, uint64_t low, uint64_t high, int only_old)
{
	struct place *p, **at = &s->places;

	while ((p = *at)) {
		if (p->low < high && p->high > low && (!only_old || p->is_old)) {
			*at = p->next;
			free(p);
		} else {
			at = &p->next;
		}
	}
}

/* An object is unloaded. */
static void place_leave(const struct merge *m, struct space *s, uint64_t low)
{
	struct place *p = place_at(s, low);

	if (p) {
		s->places = p->next;
		p->next = s->gone;
		s->gone = p;
		p->until = m->now_ns;
	}
	places_drop(s, low, low + 1, 0);
}

/* What was there when the thing happened that comes out of the merge now. */
static struct place *place_then(const struct merge *m, struct space *s, uint64_t address)
{
	struct place *now = place_at(s, address), *p = s->gone;

	if (now && now->since <= m->out_ns)
		return now;
	while (p && (address < p->low || address >= p->high || p->since > m->out_ns || p->until < m->out_ns))
		p = p->next;
	return p ? p : now;
}

static int place_set(struct merge *m, struct space *s, uint64_t low, uint64_t high, uint64_t build_id, const char *path)
{
	struct place *p = place_at(s, low);

	if (p && p->low == low && p->high == high && !build_id && !strcmp(p->object->path, path)) {
		p->is_old = 0;		/* its build-id was told before, or comes */
		return 0;
	}
	places_drop(s, low, high, 0);
	p = calloc(1, sizeof(*p));
	if (!p)
		return -1;
	p->low = low;
	p->high = high;
	p->since = INT64_MIN;
	p->object = object_get(m, build_id, path);
	p->next = s->places;
	s->places = p;
	return p->object ? 0 : -1;
}

/* ---- events ---- */

static int build_id_take(struct merge *m, struct space *s, const bt_event *event)
{
	struct place *p = place_at(s, payload_unsigned(event, "baddr"));
	uint8_t id[BUILD_ID_MOST];
	const uint64_t n = p ? payload_bytes(event, "build_id", id, sizeof(id)) : 0;

	if (n && build_id_begin(id, n))
		p->object = object_of_id(m, id, n, p->object->path);
	return !n || p->object ? 0 : -1;
}

static int function_take(struct merge *m, struct space *s, const bt_event *event)
{
	uint64_t address = payload_unsigned(event, "addr"), size = payload_unsigned(event, "size");
	uint64_t base = payload_unsigned(event, "baddr"), build_id = payload_unsigned(event, "build_id");
	struct object *object = object_get(m, build_id, payload_string(event, "object"));
	const char *name = payload_string(event, "name");
	char text[1400];
	struct place *p = place_at(s, address);

	if (!object || address < base)
		return object ? 0 : -1;
	if (!p || p->low != base) {
		p = place_at(s, base);		/* the state dump may not be in the trace: as far as is known by now */
		if (p && p->low == base && p->object == object)
			p->high = address + (size ? size : 1);
		else if (place_set(m, s, base, address + (size ? size : 1), build_id, object->path) < 0)
			return -1;
	} else if (!build_id) {
		object = p->object;		/* the dump's path is the real one */
	}
	if (object_name_here(object, address - base, name, text, sizeof(text)))
		name = text;
	return function_set(object, address - base, name);
}

static int starts(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

int names_take(struct merge *m, const bt_event *event, const char *name)
{
	const int is_dump = starts(name, "lttng_ust_statedump:"), is_function = !strcmp(name, TP_PROVIDER_TREE ":function");
	const char *what = strchr(name, ':');
	struct space *s = names_space(m, event);
	uint64_t low;

	if (!s)
		return -1;
	if (is_function)
		return function_take(m, s, event);
	low = payload_unsigned(event, "baddr");
	if (is_dump && !strcmp(what, ":start")) {
		s->dumps++;
		for (struct place *p = s->places; p; p = p->next)
			p->is_old = 1;
	} else if (is_dump && !strcmp(what, ":end")) {
		places_drop(s, 0, UINT64_MAX, 1);
	} else if (!strcmp(what, ":build_id")) {
		return build_id_take(m, s, event);
	} else if (!strcmp(what, is_dump ? ":bin_info" : ":load")) {
		if (place_set(m, s, low, low + payload_unsigned(event, "memsz"), 0, payload_string(event, "path")) < 0)
			return -1;
		if (!is_dump)
			s->places->since = m->now_ns;
	} else if (!is_dump && !strcmp(what, ":unload")) {
		place_leave(m, s, low);
	}
	return 0;
}

struct function *names_find(struct space *s, uint64_t address, uint64_t *dumps)
{
	struct place *p;

	if (!s || !s->is_one || (*dumps && *dumps != s->dumps + 1))
		return NULL;
	*dumps = s->dumps + 1;
	p = place_at(s, address);
	return p ? function_at(p->object, address - p->low) : NULL;
}

struct function *names_make(struct merge *m, struct space *s, uint64_t address)
{
	struct place *p = s && s->is_one ? place_then(m, s, address) : NULL;
	struct object *o = p ? p->object : object_get(m, 0, "");
	uint64_t offset = address - (p ? p->low : 0);
	char text[1400];
	struct function *f;

	if (!o)
		return NULL;
	if (!p || !symbols_function(names_symbols(o), &offset, text, sizeof(text)))
		snprintf(text, sizeof(text), "0x%" PRIx64, offset);
	f = function_at(o, offset);
	if (!f && function_set(o, offset, text) == 0)
		f = function_at(o, offset);
	return f;
}

struct object *names_place(struct space *s, uint64_t address, int is_call, uint64_t *offset)
{
	struct place *p = s && s->is_one && address ? place_at(s, address - (uint64_t) is_call) : NULL;

	*offset = address - (p ? p->low : 0);
	return p ? p->object : NULL;
}

void names_caller(struct space *s, uint64_t address, int is_call, char *text, size_t size)
{
	uint64_t offset;
	struct object *o = names_place(s, address, is_call, &offset);

	names_place_text(o, offset, is_call, text, size);
}

const struct source_place *names_site(struct space *s, uint64_t address)
{
	uint64_t offset;
	struct object *o = names_place(s, address, 1, &offset);

	return names_place_lines(o, offset);
}

void names_free(struct merge *m)
{
	for (struct space *s = m->spaces, *next; s; s = next) {
		next = s->next;
		places_drop(s, 0, UINT64_MAX, 0);
		for (struct place *p = s->gone, *after; p; p = after) {
			after = p->next;
			free(p);
		}
		free(s);
	}
	objects_free(m);
}
