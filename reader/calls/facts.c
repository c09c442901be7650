/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Facts of a trace, from its messages as they come in. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "liblttng-spi/base/agent-proto.h"
#include "reader/base/text.h"
#include "reader/calls/facts.h"

/* Which object a process has where: a build-id is told by the address alone. */
struct fact_loaded {
	struct fact_loaded *next;
	const bt_trace *trace;
	uint64_t vpid, address;
	struct fact_object *object;
};

void facts_init(struct facts *f, struct calls *calls)
{
	memset(f, 0, sizeof(*f));
	f->calls = calls;
	f->first = INT64_MAX;
	f->last = INT64_MIN;
}

#define FREE_ALL(type, list)	for (type *at = (list), *next; at; at = next) { next = at->next; free(at); }

void facts_free(struct facts *f)
{
	FREE_ALL(struct fact_trace, f->traces);
	FREE_ALL(struct fact_program, f->programs);
	FREE_ALL(struct fact_object, f->objects);
	FREE_ALL(struct fact_channel, f->channels);
	FREE_ALL(struct fact_left_out, f->left_out);
	FREE_ALL(struct fact_loaded, f->loaded);
	FREE_ALL(struct fact_rule, f->rules);
}

/* Lists are in order of appearance. */
#define APPEND(list, item) \
	do { \
		__typeof__(&(list)) end = &(list); \
		while (*end) \
			end = &(*end)->next; \
		*end = (item); \
	} while (0)

static void text_copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
	text_clean(to);
}

/* ---- traces ---- */

static void environment_text(const bt_trace *trace, const char *name, char *text, size_t size)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	*text = 0;
	if (value && bt_value_is_string(value))
		text_copy(text, size, bt_value_string_get(value));
	else if (value && bt_value_is_signed_integer(value))
		snprintf(text, size, "%" PRId64, bt_value_integer_signed_get(value));
}

static int trace_see(struct facts *f, const bt_stream *stream)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	struct fact_trace *t = f->traces;
	char tracer[24], major[12], minor[12];

	while (t && t->trace != trace)
		t = t->next;
	if (t)
		return 0;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->trace = trace;
	environment_text(trace, "hostname", t->host, sizeof(t->host));
	environment_text(trace, "trace_name", t->session, sizeof(t->session));
	environment_text(trace, "trace_creation_datetime", t->created, sizeof(t->created));
	environment_text(trace, "tracer_buffering_scheme", t->buffering, sizeof(t->buffering));
	environment_text(trace, "tracer_name", tracer, sizeof(tracer));
	environment_text(trace, "tracer_major", major, sizeof(major));
	environment_text(trace, "tracer_minor", minor, sizeof(minor));
	if (*tracer)
		snprintf(t->tracer, sizeof(t->tracer), "%s %s.%s", tracer, major, minor);
	APPEND(f->traces, t);
	return 0;
}

/* ---- loss ---- */

/* DIR/CHANNEL_CPU */
static void channel_name(const bt_stream *stream, char *name, size_t size)
{
	const char *path = bt_stream_get_name(stream);
	char *end;

	text_copy(name, size, path ? last_part(path) : "?");
	end = strrchr(name, '_');
	if (end && end != name && end[1] && strspn(end + 1, "0123456789") == strlen(end + 1))
		*end = 0;
}

static int lost_see(struct facts *f, const bt_stream *stream, uint64_t events, uint64_t packets)
{
	struct fact_channel *c = f->channels;
	char name[256];

	channel_name(stream, name, sizeof(name));
	while (c && strcmp(c->name, name))
		c = c->next;
	if (!c) {
		c = calloc(1, sizeof(*c) + strlen(name) + 1);
		if (!c)
			return -ENOMEM;
		strcpy(c->name, name);
		APPEND(f->channels, c);
	}
	c->events += events;
	c->packets += packets;
	c->times++;
	return 0;
}

/* ---- objects ---- */

/* begin 0: it is not told yet, and the one of that path that is known is meant until it is. */
static struct fact_object *object_get(struct facts *f, const char *path, const char *build_id, uint64_t begin)
{
	struct fact_object *o = f->objects;
	char text[4200];

	text_copy(text, sizeof(text), path);
	while (o && (strcmp(o->path, text) || (begin && o->begin != begin)))
		o = o->next;
	if (!o) {
		o = calloc(1, sizeof(*o) + strlen(text) + 1);
		if (!o)
			return NULL;
		strcpy(o->path, text);
		o->begin = begin;
		APPEND(f->objects, o);
	}
	if (strlen(build_id) > strlen(o->build_id))
		snprintf(o->build_id, sizeof(o->build_id), "%s", build_id);
	return o;
}

/* The object that a description of an event names. */
static int place_see(struct facts *f, const char *uri)
{
	uint64_t offset;
	const struct object *o = names_place_said(&f->calls->merge, uri, &offset);
	char text[2 * sizeof(o->id) + 1] = "";

	for (uint32_t i = 0; o && i < o->id_size; i++)
		snprintf(text + 2 * i, 3, "%02x", o->id[i]);
	return !o || object_get(f, o->path, text, o->build_id) ? 0 : -ENOMEM;
}

/* Functions whose events the trace describes are known from here on, also when none is recorded. */
static int functions_see(struct facts *f, const bt_stream *stream)
{
	const bt_stream_class *channel = bt_stream_borrow_class_const(stream);
	struct event_class *class;

	for (uint64_t i = 0; i < bt_stream_class_get_event_class_count(channel); i++) {
		class = merge_class(&f->calls->merge, bt_stream_class_borrow_event_class_by_index_const(channel, i));
		if (!class || (class->kind == EVENT_OTHER && !value_class_get(f->calls, class)))
			return -ENOMEM;
		if (class->kind == EVENT_OTHER && place_see(f, bt_event_class_get_emf_uri(class->in)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int program_see(struct facts *f, const bt_trace *trace, int64_t pid, const char *path)
{
	struct fact_program *p = f->programs;
	char text[4200];

	text_copy(text, sizeof(text), path);
	while (p && (p->trace != trace || p->pid != pid || strcmp(p->path, text)))
		p = p->next;
	if (p)
		return 0;
	p = calloc(1, sizeof(*p) + strlen(text) + 1);
	if (!p)
		return -ENOMEM;
	p->trace = trace;
	p->pid = pid;
	strcpy(p->path, text);
	APPEND(f->programs, p);
	return 0;
}

static struct fact_loaded *loaded_get(struct facts *f, const bt_trace *trace, uint64_t vpid, uint64_t address)
{
	struct fact_loaded *l = f->loaded;

	while (l && (l->trace != trace || l->vpid != vpid || l->address != address))
		l = l->next;
	if (l)
		return l;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	*l = (struct fact_loaded) { f->loaded, trace, vpid, address, NULL };
	f->loaded = l;
	return l;
}

static int build_id_see(struct facts *f, struct fact_loaded *l, const bt_event *event)
{
	struct fact_object *o = l->object;
	char text[84] = "";
	uint8_t id[sizeof(text) / 2 - 1];
	const uint64_t n = o ? payload_bytes(event, "build_id", id, sizeof(id)) : 0, begin = build_id_begin(id, n);

	if (!n)
		return 0;
	for (uint64_t i = 0; i < sizeof(id) && i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	if (!o->begin) {
		o->begin = begin;	/* the path was told just before */
		strcpy(o->build_id, text);
		return 0;
	}
	l->object = object_get(f, o->path, text, begin);
	return l->object ? 0 : -ENOMEM;
}

/* The event of a function's name says the object under the name that the process knows it by, which may be a link. */
static int function_see(struct facts *f, const bt_event *event)
{
	const uint64_t begin = payload_unsigned(event, "build_id");
	struct fact_object *o = f->objects;
	char text[20] = "";

	while (o && (!begin || o->begin != begin))
		o = o->next;
	if (begin)
		snprintf(text, sizeof(text), "%016" PRIx64, begin);
	return o || object_get(f, payload_string(event, "object"), text, begin) ? 0 : -ENOMEM;
}

static int names_see(struct facts *f, const bt_event *event, const char *name)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event));
	const char *what = strchr(name, ':') + 1, *path, *slash;
	uint64_t vpid = UINT64_MAX;
	struct fact_loaded *l;

	context_unsigned(event, "vpid", &vpid);
	if (!strcmp(name, TP_PROVIDER_TREE ":function"))
		return function_see(f, event);
	if (!strcmp(what, "start") || !strcmp(what, "end")) {
		f->is_starting = !strcmp(what, "start");
		return 0;
	}
	if (strcmp(what, "bin_info") && strcmp(what, "load") && strcmp(what, "build_id"))
		return 0;
	l = loaded_get(f, trace, vpid, payload_unsigned(event, "baddr"));
	if (!l)
		return -ENOMEM;
	if (!strcmp(what, "build_id"))
		return build_id_see(f, l, event);
	path = payload_string(event, "path");
	l->object = object_get(f, path, "", 0);
	if (!l->object)
		return -ENOMEM;
	slash = strrchr(path, '/');
	if (strstr(slash ? slash : path, ".so"))
		return 0;	/* LTTng's own dump has objects in any order */
	if (f->is_starting && program_see(f, trace, (int64_t) vpid, path) < 0)
		return -ENOMEM;
	f->is_starting = 0;
	return 0;
}

/* ---- events ---- */

static int budget_see(struct facts *f, const bt_event *event)
{
	const bt_field *state = bt_field_structure_borrow_member_field_by_name_const(
		bt_event_borrow_payload_field_const(event), "state");
	struct fact_left_out *l = f->left_out;
	char name[512], text[64] = "";

	text_copy(name, sizeof(name), payload_string(event, "function"));
	if (state)
		value_text(state, text, sizeof(text));
	while (l && strcmp(l->name, name))
		l = l->next;
	if (!l) {
		l = calloc(1, sizeof(*l) + strlen(name) + 1);
		if (!l)
			return -ENOMEM;
		strcpy(l->name, name);
		APPEND(f->left_out, l);
	}
	l->budget = (uint32_t) payload_unsigned(event, "budget");
	l->is_out = strstr(text, "left_out") != NULL;
	return 0;
}

/* Each session start tells it again, and each library that adds to it: the latest numbers count. */
static int rule_see(struct facts *f, const bt_event *event)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event));
	struct fact_rule *r = f->rules;
	uint64_t pid = UINT64_MAX;
	char text[2048];

	text_copy(text, sizeof(text), payload_string(event, "rule"));
	context_unsigned(event, "vpid", &pid);
	while (r && (r->trace != trace || r->pid != (int64_t) pid || strcmp(r->text, text)))
		r = r->next;
	if (!r) {
		r = calloc(1, sizeof(*r) + strlen(text) + 1);
		if (!r)
			return -ENOMEM;
		strcpy(r->text, text);
		r->trace = trace;
		r->pid = (int64_t) pid;
		APPEND(f->rules, r);
	}
	r->is_tree = payload_unsigned(event, "kind") == 1;
	r->instrumented = payload_unsigned(event, "instrumented");
	r->declined = payload_unsigned(event, "declined");
	return 0;
}

static enum fact_kind kind_of(struct facts *f, struct event_class *class)
{
	const struct value_class *v;
	const char *name;

	switch (class->kind) {
	case EVENT_FUNC_ENTRY:
	case EVENT_FUNC_EXIT:
		return FACT_TREE;
	case EVENT_CALLS:
		return FACT_BATCH;
	case EVENT_SITE:
	case EVENT_NAMES:
		return FACT_OTHER;
	case EVENT_OTHER:
		break;
	}
	name = bt_event_class_get_name(class->in);
	if (name && (!strcmp(name, "spi_ipc:send") || !strcmp(name, "spi_ipc:recv")))
		return FACT_MESSAGE;
	v = value_class_get(f->calls, class);
	return !v ? FACT_OTHER : v->kind == VALUE_WHOLE ? FACT_WHOLE :
		v->kind == VALUE_ENTRY || v->kind == VALUE_EXIT ? FACT_TYPED : FACT_OTHER;
}

static int event_see(struct facts *f, const bt_event *event)
{
	const bt_event_class *in = bt_event_borrow_class_const(event);
	struct event_class *class = merge_class(&f->calls->merge, in);
	const char *name = bt_event_class_get_name(in);

	if (!class)
		return -ENOMEM;
	f->events[kind_of(f, class)]++;
	f->never_out += class->kind == EVENT_CALLS || class->kind == EVENT_SITE;
	if (class->kind == EVENT_NAMES)
		return names_see(f, event, name);
	if (name && !strncmp(name, SPI_RULE_PROVIDER ":", sizeof(SPI_RULE_PROVIDER)))
		return rule_see(f, event);
	return name && !strcmp(name, TP_PROVIDER_TREE ":budget") ? budget_see(f, event) : 0;
}

int facts_see(void *facts, const bt_message *message)
{
	struct facts *f = facts;
	const bt_stream *stream;
	uint64_t count = 0;
	int64_t ns;

	if (f->calls->is_choosing)
		return 0;	/* all messages come once more */
	if (message_time(message, &ns)) {
		f->first = ns < f->first ? ns : f->first;
		f->last = ns > f->last ? ns : f->last;
	}
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		stream = bt_message_stream_beginning_borrow_stream_const(message);
		return trace_see(f, stream) < 0 || functions_see(f, stream) < 0 ? -ENOMEM : 0;
	case BT_MESSAGE_TYPE_EVENT:
		return event_see(f, bt_message_event_borrow_event_const(message));
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		stream = bt_message_discarded_events_borrow_stream_const(message);
		bt_message_discarded_events_get_count(message, &count);
		return lost_see(f, stream, count, 0);
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		stream = bt_message_discarded_packets_borrow_stream_const(message);
		bt_message_discarded_packets_get_count(message, &count);
		return lost_see(f, stream, 0, count);
	default:
		return 0;
	}
}

uint64_t facts_records(const struct facts *f)
{
	uint64_t given = 0;

	for (int i = 0; i < FACT_KINDS; i++)
		given += f->events[i];
	given -= f->never_out;
	return f->calls->events > given ? f->calls->events - given : 0;
}
