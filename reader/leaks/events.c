/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Events of memory and resources: which ones there are, and what stands in one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reader/leaks/leaks.h"

struct leak_class {
	struct leak_class *next;
	const bt_event_class *in;
	enum leak_event what;		/* LEAK_EVENTS: another event */
	uint64_t fields[LEAK_VALUES];	/* members; UINT64_MAX: none */
	uint64_t backtrace;
};

static const struct {
	const char *name, *fields[LEAK_VALUES];
} event_names[LEAK_EVENTS] = {
	[LEAK_MALLOC] = { "lttng_ust_libc:malloc", { "size", "ptr" } },
	[LEAK_CALLOC] = { "lttng_ust_libc:calloc", { "nmemb", "size", "ptr" } },
	[LEAK_REALLOC] = { "lttng_ust_libc:realloc", { "in_ptr", "size", "ptr" } },
	[LEAK_FREE] = { "lttng_ust_libc:free", { "ptr" } },
	[LEAK_MEMALIGN] = { "lttng_ust_libc:memalign", { "alignment", "size", "ptr" } },
	[LEAK_POSIX_MEMALIGN] = { "lttng_ust_libc:posix_memalign", { "out_ptr", "alignment", "size", "result" } },
	[LEAK_PROCESS] = { "spi_resource:process", { "begun", "parent", "heap_low", "heap_mark", "in_use" } },
	[LEAK_MMAP] = { "spi_resource:mmap", { "addr", "length", "flags", "fd" } },
	[LEAK_MUNMAP] = { "spi_resource:munmap", { "addr", "length" } },
	[LEAK_MREMAP] = { "spi_resource:mremap", { "old_addr", "old_length", "addr", "length" } },
	[LEAK_BRK] = { "spi_resource:brk", { "addr" } },
	[LEAK_OPEN] = { "spi_resource:open", { "fd", "function", "name" } },
	[LEAK_CLOSE] = { "spi_resource:close", { "fd" } },
	[LEAK_CLOSE_RANGE] = { "spi_resource:close_range", { "first", "last" } },
	[LEAK_THREAD_CREATE] = { "spi_resource:thread_create", { "thread", "start", "detached" } },
	[LEAK_THREAD_JOIN] = { "spi_resource:thread_join", { "thread" } },
	[LEAK_THREAD_DETACH] = { "spi_resource:thread_detach", { "thread" } },
};

static struct leak_class *class_get(struct leaks *l, const bt_event_class *in)
{
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(in);
	const char *name = bt_event_class_get_name(in);
	struct leak_class *c, **at;
	unsigned int what = 0;

	for (at = &l->classes; (c = *at) && c->in != in; at = &c->next)
		;
	if (c) {
		*at = c->next;
		c->next = l->classes;
		l->classes = c;
		return c;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	while (what < LEAK_EVENTS && (!name || strcmp(event_names[what].name, name)))
		what++;
	c->in = in;
	c->what = (enum leak_event) what;
	for (unsigned int i = 0; i < LEAK_VALUES; i++)
		c->fields[i] = what < LEAK_EVENTS && event_names[what].fields[i] ?
			member_find(payload, event_names[what].fields[i]) : UINT64_MAX;
	c->backtrace = member_find(payload, "backtrace");
	c->next = l->classes;
	l->classes = c;
	return c;
}

/* The event's backtrace; without one its caller, which the context ip has. */
static uint32_t callers_read(const bt_event *event, const struct leak_class *c, uint64_t *callers)
{
	const bt_field *words = payload_field(event, c->backtrace);
	uint64_t n = 0;

	if (words && bt_field_class_type_is(bt_field_get_class_type(words), BT_FIELD_CLASS_TYPE_ARRAY))
		n = bt_field_array_get_length(words);
	n = n < LEAK_FRAMES_MOST ? n : LEAK_FRAMES_MOST;
	for (uint64_t i = 0; i < n; i++)
		callers[i] = field_integer(bt_field_array_borrow_element_field_by_index_const(words, i));
	return n ? (uint32_t) n : !context_unsigned(event, "ip", &callers[0]);
}

int leak_event_read(struct leaks *l, const bt_event *event, struct leak_said *said)
{
	const struct leak_class *c = class_get(l, bt_event_borrow_class_const(event));
	uint64_t thread = UINT64_MAX;

	if (!c)
		return -ENOMEM;
	said->what = c->what;
	if (c->what == LEAK_EVENTS)
		return 0;
	for (unsigned int i = 0; i < LEAK_VALUES; i++) {
		const bt_field *field = payload_field(event, c->fields[i]);

		said->values[i] = field_integer(field);
		said->texts[i] = field_string(field);
	}
	if (l->by == LEAK_BY_THREAD)
		context_unsigned(event, "vtid", &thread);
	said->thread = (int64_t) thread;
	said->count = callers_read(event, c, said->callers);
	return 0;
}

void leak_events_free(struct leaks *l)
{
	for (struct leak_class *c = l->classes, *next; c; c = next) {
		next = c->next;
		free(c);
	}
}
