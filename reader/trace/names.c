/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Names of functions, as spi_tree:function says them.
 *
 * A function is known by its object and its place in that: a forked child has its parent's functions, and a library
 * has its own wherever it is loaded. Which object is where in a process is told by its state dump, by what it loads
 * and unloads, and by the function's own event, as a snapshot has no state dump. Objects are the same when their
 * build-ids are, or, without these, their paths.
 *
 * Processes are told apart by the context vpid; a trace without that, which is not one process's alone, has no names.
 * Another dump of a process begins when it executes another program: what that does not tell of again is not there any
 * more.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/trace/trace.h"

#define INLINED_MOST	8	/* functions within each other at one place */

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

struct names {
	struct space *spaces;		/* likewise */
	struct object *objects;
};

/* ---- objects and their functions ---- */

static struct object *object_get(struct names *n, uint64_t build_id, const char *path)
{
	struct object *o = n->objects;

	while (o && (build_id ? o->build_id != build_id : o->build_id || strcmp(o->path, path)))
		o = o->next;
	if (o)
		return o;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->path = strdup(path);
	if (!o->path) {
		free(o);
		return NULL;
	}
	o->build_id = build_id;
	o->functions = (struct spi_hash) SPI_HASH_OVER(o->function_buckets);
	o->places = (struct spi_hash) SPI_HASH_OVER(o->place_buckets);
	o->next = n->objects;
	n->objects = o;
	return o;
}

static struct function *function_at(const struct object *o, uint64_t offset)
{
	struct function *f = spi_hash_find(&o->functions, spi_hash_number(offset));

	while (f && f->offset != offset)
		f = spi_hash_again(&f->link);
	return f;
}

/*
 * The latest one counts, as a file may have been built anew without a build-id; the old text lives on where it is in
 * use.
 */
static int function_set(struct object *o, uint64_t offset, const char *name)
{
	const struct function *known = function_at(o, offset);
	struct function *f;

	if (known && !strcmp(known->name, name))
		return 0;
	f = calloc(1, sizeof(*f) + strlen(name) + 1);
	if (!f)
		return -1;
	f->object = o;
	f->offset = offset;
	strcpy(f->name, name);
	spi_hash_add(&o->functions, &f->link, spi_hash_number(offset));
	return 0;
}

/* ---- places in descriptions of events ---- */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Bytes of two digits each: how many, `most` of them kept. */
static uint32_t hex_read(const char **at, uint8_t *bytes, uint32_t most)
{
	uint32_t n = 0;

	for (; hex_digit((*at)[0]) >= 0 && hex_digit((*at)[1]) >= 0; *at += 2, n++)
		if (n < most)
			bytes[n] = (uint8_t) (hex_digit((*at)[0]) << 4 | hex_digit((*at)[1]));
	return n;
}

static void path_read(const char *from, const char *end, char *path, size_t size)
{
	size_t n = 0;

	for (; from < end && n + 1 < size; from++) {
		const int high = *from == '%' && end - from > 2 ? hex_digit(from[1]) : -1, low = high < 0 ? -1 : hex_digit(from[2]);

		path[n++] = low < 0 ? *from : (char) (high << 4 | low);
		from += low < 0 ? 0 : 2;
	}
	path[n] = 0;
}

struct object *names_place_said(struct merge *m, const char *uri, uint64_t *offset)
{
	static const char scheme[] = "spi:", with_id[] = "?build_id=", with_offset[] = "&offset=0x";
	const char *end = uri ? strstr(uri, with_id) : NULL, *at;
	uint64_t build_id = 0;
	struct object *o;
	char path[4200];
	uint8_t id[64];
	uint32_t n;

	if (!end || strncmp(uri, scheme, sizeof(scheme) - 1))
		return NULL;
	at = end + sizeof(with_id) - 1;
	n = hex_read(&at, id, sizeof(id));
	if (strncmp(at, with_offset, sizeof(with_offset) - 1))
		return NULL;
	*offset = strtoull(at + sizeof(with_offset) - 1, NULL, 16);
	path_read(uri + sizeof(scheme) - 1, end, path, sizeof(path));
	for (uint32_t i = 0; i < 8 && i < n; i++)
		build_id |= (uint64_t) id[i] << (56 - 8 * i);
	if (!m->names && !(m->names = calloc(1, sizeof(*m->names))))
		return NULL;
	o = object_get(m->names, build_id, path);
	if (o && build_id && n <= sizeof(id)) {
		memcpy(o->id, id, n);
		o->id_size = n;
	}
	return o;
}

/* ---- what is where ---- */

struct space *names_space(struct merge *m, const bt_event *event)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event));
	struct space *s, **at;
	uint64_t vpid = 0;
	int has_vpid;

	if (!m->names)
		m->names = calloc(1, sizeof(*m->names));
	if (!m->names)
		return NULL;
	has_vpid = !context_unsigned(event, "vpid", &vpid);
	for (at = &m->names->spaces; (s = *at) && (s->vpid != vpid || s->trace != trace); at = &s->next)
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
	s->next = m->names->spaces;
	m->names->spaces = s;
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
	p->object = object_get(m->names, build_id, path);
	p->next = s->places;
	s->places = p;
	return p->object ? 0 : -1;
}

/* ---- events ---- */

static int build_id_take(struct merge *m, struct space *s, const bt_event *event)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const bt_field *bytes = payload ? bt_field_structure_borrow_member_field_by_name_const(payload, "build_id") : NULL;
	struct place *p = place_at(s, payload_unsigned(event, "baddr"));
	const struct object *known = p ? p->object : NULL;
	uint64_t build_id = 0, n;
	uint8_t id[64];

	if (!bytes || !p || !bt_field_class_type_is(bt_field_get_class_type(bytes), BT_FIELD_CLASS_TYPE_ARRAY))
		return 0;
	n = bt_field_array_get_length(bytes);
	for (uint64_t i = 0; i < sizeof(id) && i < n; i++) {
		const bt_field *byte = bt_field_array_borrow_element_field_by_index_const(bytes, i);

		if (!bt_field_class_type_is(bt_field_get_class_type(byte), BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
			return 0;
		id[i] = (uint8_t) bt_field_integer_unsigned_get_value(byte);
		if (i < 8)
			build_id |= (uint64_t) id[i] << (56 - 8 * i);
	}
	if (build_id && build_id != known->build_id)
		p->object = object_get(m->names, build_id, known->path);
	if (p->object && build_id && n <= sizeof(id)) {
		memcpy(p->object->id, id, n);
		p->object->id_size = (uint32_t) n;
	}
	return p->object ? 0 : -1;
}

/*
 * A function that had no name where it was recorded is called by its place, sub_ADDRESS. The file here may know its
 * name: 1, and the name.
 */
static int name_here(struct object *o, uint64_t offset, const char *name, char *text, size_t size)
{
	uint64_t begin = offset;

	return !strncmp(name, "sub_", 4) && name[4] && !name[4 + strspn(name + 4, "0123456789abcdef")] &&
		symbols_function(names_symbols(o), &begin, text, size) && begin == offset;
}

static int function_take(struct merge *m, struct space *s, const bt_event *event)
{
	uint64_t address = payload_unsigned(event, "addr"), size = payload_unsigned(event, "size");
	uint64_t base = payload_unsigned(event, "baddr"), build_id = payload_unsigned(event, "build_id");
	struct object *object = object_get(m->names, build_id, payload_string(event, "object"));
	const char *name;
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
	name = payload_string(event, "name");
	return function_set(object, address - base, name_here(object, address - base, name, text, sizeof(text)) ? text : name);
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
	struct object *o = p ? p->object : object_get(m->names, 0, "");
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

void names_place_text(struct object *o, uint64_t offset, int is_call, char *text, size_t size)
{
	const char *path = o ? o->path : "", *slash = strrchr(path, '/');
	size_t n;

	if (!o) {
		snprintf(text, size, "0x%" PRIx64, offset);
		return;
	}
	symbols_name(names_symbols(o), offset, is_call, text, size);
	n = strlen(text);
	snprintf(text + n, size - n, " [%s]", slash && slash[1] ? slash + 1 : path);
}

void names_caller(struct space *s, uint64_t address, int is_call, char *text, size_t size)
{
	uint64_t offset;
	struct object *o = names_place(s, address, is_call, &offset);

	names_place_text(o, offset, is_call, text, size);
}

/* ---- files and lines ---- */

struct object *names_objects(const struct merge *m)
{
	return m->names ? m->names->objects : NULL;
}

struct symbols *names_symbols(struct object *o)
{
	if (!o->symbols)
		o->symbols = symbols_open(o);
	return o->symbols;
}

static char *text_keep(char **at, const char *from)
{
	char *text = *at;

	*at = stpcpy(text, from) + 1;
	text_clean(text);
	return text;
}

/* Kept for as long as the object: calls come from the same places again and again. */
static const struct source_place *place_lines(struct object *o, uint64_t offset, int is_site)
{
	const uint64_t key = offset * 2 + (uint64_t) is_site, hash = spi_hash_number(key);
	struct source_place *p = spi_hash_find(&o->places, hash);
	struct source_line lines[INLINED_MOST + 1];
	size_t size = 0;
	char *at;
	int n;

	while (p && p->key != key)
		p = spi_hash_again(&p->link);
	if (p)
		return p->count ? p : NULL;
	n = symbols_lines(names_symbols(o), offset, is_site, lines, is_site ? INLINED_MOST + 1 : 1);
	for (int i = 0; i < n; i++)
		size += strlen(lines[i].file ? lines[i].file : "") + strlen(lines[i].inlined ? lines[i].inlined : "") + 2;
	p = calloc(1, sizeof(*p) + (size_t) n * sizeof(*p->lines) + size);
	if (!p)
		return NULL;
	at = (char *) &p->lines[n];
	p->key = key;
	p->count = n;
	for (int i = 0; i < n; i++) {
		p->lines[i].line = lines[i].line;
		p->lines[i].file = text_keep(&at, lines[i].file ? lines[i].file : "");
		p->lines[i].inlined = lines[i].inlined ? text_keep(&at, lines[i].inlined) : NULL;
	}
	spi_hash_add(&o->places, &p->link, hash);
	return n ? p : NULL;
}

const struct source_place *names_line(const struct object *o, uint64_t offset)
{
	return *o->path ? place_lines((struct object *) (uintptr_t) o, offset, 0) : NULL;
}

const struct source_place *names_site(struct space *s, uint64_t address)
{
	struct place *p = s && s->is_one && address ? place_at(s, address - 1) : NULL;

	return p ? place_lines(p->object, address - p->low, 1) : NULL;
}

const struct source_place *names_place_lines(struct object *o, uint64_t offset)
{
	return o ? place_lines(o, offset, 1) : NULL;
}

void names_free(struct merge *m)
{
	if (!m->names)
		return;
	for (struct space *s = m->names->spaces, *next; s; s = next) {
		next = s->next;
		places_drop(s, 0, UINT64_MAX, 0);
		for (struct place *p = s->gone, *after; p; p = after) {
			after = p->next;
			free(p);
		}
		free(s);
	}
	for (struct object *o = m->names->objects, *next; o; o = next) {
		next = o->next;
		for (struct function *f = spi_hash_next(&o->functions, NULL), *after; f; f = after) {
			after = spi_hash_next(&o->functions, &f->link);
			free(f);
		}
		for (struct source_place *p = spi_hash_next(&o->places, NULL), *after; p; p = after) {
			after = spi_hash_next(&o->places, &p->link);
			free(p);
		}
		symbols_close(o->symbols);
		free(o->path);
		free(o);
	}
	free(m->names);
}
