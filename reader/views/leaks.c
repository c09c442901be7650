/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * From events to what is live. An address is looked up in its process's table; what was given back stays there, so that
 * who gives it back again is found.
 *
 * A realloc() is recorded at its end: another thread may have got the address by then, and recorded that. So a block
 * that is got while it is live is another block, and the first realloc() of it by another thread means the old one.
 *
 * What each group had as the process had most is found in one pass: a group keeps what it had at the latest of these
 * times, and makes that anew before it changes for the first time after one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/views/leaks.h"
#include "rules/glob.h"

#define FRAMES_MOST	128u
#define INCIDENTS_MOST	1000u		/* of a process; more are counted */
#define VALUES_MOST	5u

/* ---- events ---- */

struct leak_class {
	struct leak_class *next;
	const bt_event_class *in;
	enum leak_event what;		/* LEAK_EVENTS: none of ours */
	uint64_t fields[VALUES_MOST];	/* members; UINT64_MAX: none */
	uint64_t backtrace;
};

static const struct {
	const char *name, *fields[VALUES_MOST];
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
	for (unsigned int i = 0; i < VALUES_MOST && what < LEAK_EVENTS; i++)
		c->fields[i] = event_names[what].fields[i] ? member_find(payload, event_names[what].fields[i]) : UINT64_MAX;
	c->backtrace = what < LEAK_EVENTS ? member_find(payload, "backtrace") : UINT64_MAX;
	c->next = l->classes;
	l->classes = c;
	return c;
}

static void values_get(const struct leak_class *c, const bt_event *event, uint64_t *values, const char **texts)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event), *field;

	for (unsigned int i = 0; i < VALUES_MOST; i++) {
		values[i] = 0;
		texts[i] = "";
		if (c->fields[i] == UINT64_MAX)
			continue;
		field = bt_field_structure_borrow_member_field_by_index_const(payload, c->fields[i]);
		if (bt_field_class_type_is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_STRING))
			texts[i] = bt_field_string_get_value(field);
		else
			values[i] = field_integer(field);
	}
}

/* ---- stacks ---- */

static struct leak_frame *frame_get(struct leaks *l, struct space *space, uint64_t address)
{
	uint64_t offset, hash;
	struct object *object = names_place(space, address, 1, &offset);
	struct leak_frame *f;

	hash = spi_hash_number((uintptr_t) object ^ offset);
	f = spi_hash_find(&l->frames, hash);
	while (f && (f->object != object || f->offset != offset))
		f = spi_hash_again(&f->link);
	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->object = object;
	f->offset = offset;
	f->number = l->frame_count++;
	spi_hash_add(&l->frames, &f->link, hash);
	return f;
}

static const struct leak_stack *stack_make(struct leaks *l, struct space *space, const uint64_t *addresses,
	uint32_t count)
{
	struct leak_frame *frames[FRAMES_MOST];
	uint64_t hash = SPI_HASH_SEED;
	struct leak_stack *s;

	for (uint32_t i = 0; i < count; i++) {
		frames[i] = frame_get(l, space, addresses[i]);
		if (!frames[i])
			return NULL;
		hash = spi_hash_number(hash ^ (uintptr_t) frames[i]) + i;
	}
	s = spi_hash_find(&l->stacks, hash);
	while (s && (s->count != count || memcmp(s->frames, frames, count * sizeof(frames[0]))))
		s = spi_hash_again(&s->link);
	if (s)
		return s;
	s = calloc(1, sizeof(*s) + count * sizeof(frames[0]));
	if (!s)
		return NULL;
	s->count = count;
	memcpy(s->frames, frames, count * sizeof(frames[0]));
	spi_hash_add(&l->stacks, &s->link, hash);
	return s;
}

/* The event's backtrace; without one its caller, which the context ip has. */
static const struct leak_stack *stack_get(struct leaks *l, struct space *space, const struct leak_class *c,
	const bt_event *event)
{
	uint64_t addresses[FRAMES_MOST], count = 0;
	const bt_field *words;

	if (c->backtrace != UINT64_MAX) {
		words = bt_field_structure_borrow_member_field_by_index_const(bt_event_borrow_payload_field_const(event),
			c->backtrace);
		if (bt_field_class_type_is(bt_field_get_class_type(words), BT_FIELD_CLASS_TYPE_ARRAY))
			count = bt_field_array_get_length(words);
		for (uint64_t i = 0; i < count && i < FRAMES_MOST; i++)
			addresses[i] = field_integer(bt_field_array_borrow_element_field_by_index_const(words, i));
	}
	if (!count && context_unsigned(event, "ip", &addresses[0]) == 0)
		count = 1;
	return stack_make(l, space, addresses, (uint32_t) (count < FRAMES_MOST ? count : FRAMES_MOST));
}

const char *leak_frame_text(struct leak_frame *f)
{
	char text[1600];

	if (!f->text) {
		names_place_text(f->object, f->offset, 1, text, sizeof(text));
		for (char *c = text; *c; c++)
			if ((unsigned char) *c < 0x20 || *c == 0x7f)
				*c = '?';
		f->text = strdup(text);
	}
	return f->text ? f->text : "?";
}

void leak_frame_function(struct leak_frame *f, char *text, size_t size)
{
	char *end;

	snprintf(text, size, "%s", leak_frame_text(f));
	end = f->object ? strrchr(text, '+') : NULL;	/* a name may have one, too */
	if (end && end != text && !strncmp(end, "+0x", 3))
		*end = 0;
	else if ((end = strstr(text, " [")))
		*end = 0;
}

const char *leak_frame_object(const struct leak_frame *f)
{
	const char *slash = f->object ? strrchr(f->object->path, '/') : NULL;

	return !f->object ? "" : slash && slash[1] ? slash + 1 : f->object->path;
}

/* ---- processes ---- */

static void process_name(struct leak_process *p, const bt_event *event)
{
	const bt_field *context = bt_event_borrow_common_context_field_const(event), *field = NULL;

	if (context)
		field = bt_field_structure_borrow_member_field_by_name_const(context, "procname");
	if (field && bt_field_class_type_is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_STRING))
		snprintf(p->name, sizeof(p->name), "%s", bt_field_string_get_value(field));
	for (char *c = p->name; *c; c++)
		if ((unsigned char) *c < 0x20 || *c == 0x7f)
			*c = '?';
}

static struct leak_process *process_begin(struct leaks *l, const struct space *space, const bt_event *event, int64_t ns)
{
	struct leak_process *p = calloc(1, sizeof(*p)), **end = &l->list;
	uint64_t vpid = UINT64_MAX;

	if (!p)
		return NULL;
	p->points = calloc(LEAK_POINTS, sizeof(*p->points));
	if (!p->points) {
		free(p);
		return NULL;
	}
	while (*end)
		end = &(*end)->next;
	*end = p;
	context_unsigned(event, "vpid", &vpid);
	p->space = space;
	p->pid = (int64_t) vpid;
	p->begun = BEGUN_UNKNOWN;
	p->groups = (struct spi_hash) SPI_HASH_OVER(p->group_buckets);
	p->first = p->points_from = ns;
	p->point_ns = 1000;
	process_name(p, event);
	return p;
}

static struct leak_process *process_of(struct leaks *l, const struct space *space, const struct leak_class *c,
	const bt_event *event, int64_t ns)
{
	struct leak_process *p = l->latest;

	if (!p || p->space != space || p->is_over)
		for (p = l->list; p && (p->space != space || p->is_over); p = p->next)
			;
	if (p && c->what == LEAK_PROCESS && p->calls + p->freed) {
		p->is_over = 1;		/* it has executed another program */
		p = NULL;
	}
	if (!p)
		p = process_begin(l, space, event, ns);
	l->latest = p;
	return p;
}

static int is_chosen(const struct leaks *l, const struct leak_process *p)
{
	char pid[24];

	if (!l->processes)
		return 1;
	snprintf(pid, sizeof(pid), "%" PRId64, p->pid);
	for (const char *const *glob = l->processes; *glob; glob++)
		if (spi_glob_match(*glob, p->name) || !strcmp(*glob, pid))
			return 1;
	return 0;
}

/* ---- groups ---- */

static struct leak_group *group_get(struct leaks *l, struct leak_process *p, const struct leak_stack *stack,
	const bt_event *event)
{
	uint64_t thread = UINT64_MAX, hash;
	struct leak_group *g;

	if (l->by == LEAK_BY_THREAD)
		context_unsigned(event, "vtid", &thread);
	hash = spi_hash_number((uintptr_t) stack ^ thread);
	g = spi_hash_find(&p->groups, hash);
	while (g && (g->stack != stack || g->thread != (int64_t) thread))
		g = spi_hash_again(&g->link);
	if (g)
		return g;
	if (p->group_count == p->group_room) {
		const uint32_t room = p->group_room ? p->group_room * 2 : 64;
		struct leak_group **more = realloc(p->list, room * sizeof(struct leak_group *));

		if (!more)
			return NULL;
		p->list = more;
		p->group_room = room;
	}
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->stack = stack;
	g->thread = (int64_t) thread;
	spi_hash_add(&p->groups, &g->link, hash);
	p->list[p->group_count++] = g;
	return g;
}

/* Before it changes. */
static void group_settle(const struct leak_process *p, struct leak_group *g)
{
	if (g->peak == p->peak)
		return;
	g->peak = p->peak;
	g->peak_bytes = g->bytes;
	g->peak_blocks = g->blocks;
}

static uint32_t lifetime_class(int64_t ns)
{
	const uint64_t v = ns > 0 ? (uint64_t) ns : 0;
	const unsigned int power = v < 4 ? 0 : 61u - (unsigned int) __builtin_clzll(v);
	const uint64_t class = v < 4 ? v : 4u * power + (v >> power);

	return class < LIFETIMES ? (uint32_t) class : LIFETIMES - 1;
}

static int64_t lifetime_of(uint32_t class)	/* the middle of it */
{
	const unsigned int power = class < 8 ? 0 : class / 4 - 1;

	return class < 8 ? (int64_t) class : (int64_t) (((4 + class % 4) * UINT64_C(2) + 1) << power >> 1);
}

int64_t leak_lifetime(const struct leak_group *g)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; g->lifetimes && i < LIFETIMES; i++) {
		seen += g->lifetimes[i];
		if (seen * 2 >= g->freed)
			return lifetime_of(i) < g->longest ? lifetime_of(i) : g->longest;
	}
	return -1;
}

static int group_gives(struct leak_process *p, struct leak_group *g, uint64_t size, int64_t lived)
{
	group_settle(p, g);
	g->bytes -= size;
	g->blocks--;
	p->bytes -= size;
	p->live--;
	if (lived < 0)
		return 0;
	if (!g->lifetimes)
		g->lifetimes = calloc(LIFETIMES, sizeof(*g->lifetimes));
	if (!g->lifetimes)
		return -ENOMEM;
	g->lifetimes[lifetime_class(lived)]++;
	g->freed++;
	g->longest = lived > g->longest ? lived : g->longest;
	return 0;
}

static void group_gets(struct leak_process *p, struct leak_group *g, uint64_t size, int64_t ns)
{
	group_settle(p, g);
	g->bytes += size;
	g->blocks++;
	g->calls++;
	g->got += size;
	p->bytes += size;
	p->live++;
	p->calls++;
	p->got += size;
	if (p->bytes <= p->peak_bytes)
		return;
	p->peak_bytes = p->bytes;
	p->peak_blocks = p->live;
	p->peak_ns = ns;
	p->peak++;
}

/* ---- over time ---- */

static void point_set(struct leak_process *p, int64_t ns)
{
	uint64_t at = (uint64_t) (ns - p->points_from) / (uint64_t) p->point_ns;
	struct leak_point *point;

	while (at >= LEAK_POINTS) {
		for (uint32_t i = 0; i < LEAK_POINTS / 2; i++) {
			const struct leak_point *a = &p->points[2 * i], *b = a + 1;

			p->points[i] = b->is_there && (!a->is_there || b->bytes >= a->bytes) ? *b : *a;
		}
		memset(p->points + LEAK_POINTS / 2, 0, LEAK_POINTS / 2 * sizeof(*p->points));
		p->point_ns *= 2;
		at = (uint64_t) (ns - p->points_from) / (uint64_t) p->point_ns;
	}
	point = &p->points[at];
	if (!point->is_there || p->bytes >= point->bytes)
		*point = (struct leak_point) { ns, p->bytes, p->live, 1 };
}

/* ---- blocks ---- */

static struct leak_block *block_place(struct leak_block *blocks, uint64_t room, uint64_t address)
{
	uint64_t at = spi_hash_number(address);

	while (blocks[at & (room - 1)].address && blocks[at & (room - 1)].address != address)
		at++;
	return &blocks[at & (room - 1)];
}

static struct leak_block *block_get(struct leak_process *p, uint64_t address, int makes)
{
	struct leak_block *b = p->block_room ? block_place(p->blocks, p->block_room, address) : NULL;

	if ((b && b->address) || !makes)
		return b && b->address ? b : NULL;
	if (p->block_count * 2 >= p->block_room) {
		const uint64_t room = p->block_room ? p->block_room * 2 : 4096;
		struct leak_block *more = calloc(room, sizeof(*more));

		if (!more)
			return NULL;
		for (uint64_t i = 0; i < p->block_room; i++)
			if (p->blocks[i].address)
				*block_place(more, room, p->blocks[i].address) = p->blocks[i];
		free(p->blocks);
		p->blocks = more;
		p->block_room = room;
		b = block_place(more, room, address);
	}
	p->block_count++;
	b->address = address;
	return b;
}

static int block_got(struct leaks *l, struct leak_process *p, uint64_t address, uint64_t size,
	const struct leak_stack *stack, const bt_event *event, int64_t ns)
{
	struct leak_group *g = group_get(l, p, stack, event);
	struct leak_block *b;

	if (!address) {
		p->failed++;
		return 0;
	}
	b = g ? block_get(p, address, 1) : NULL;
	if (!b)
		return -ENOMEM;
	if (b->is_live) {
		p->unseen++;
		b->is_taken_over = 1;
		if (group_gives(p, b->group, b->size, -1) < 0)
			return -ENOMEM;
	} else {
		b->is_taken_over = 0;
	}
	b->size = size;
	b->group = g;
	b->ns = ns;
	b->is_live = 1;
	group_gets(p, g, size, ns);
	return 0;
}

static int incident_add(struct leak_process *p, enum leak_wrong what, uint64_t address, const struct leak_stack *at,
	const struct leak_stack *got, int64_t ns)
{
	p->wrong[what]++;
	if (p->incident_count == INCIDENTS_MOST)
		return 0;
	if (p->incident_count == p->incident_room) {
		const uint32_t room = p->incident_room ? p->incident_room * 2 : 16;
		struct leak_incident *more = realloc(p->incidents, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->incidents = more;
		p->incident_room = room;
	}
	p->incidents[p->incident_count++] = (struct leak_incident) { what, address, ns, at, got };
	return 0;
}

/* May it have been there before all that is recorded? A large block of malloc()'s stands alone, behind 16 bytes. */
static int is_older(const struct leak_process *p, uint64_t address)
{
	return p->begun != BEGUN_FROM_START || (address >= p->heap_low && address < p->heap_mark) ||
		(address & 4095) == 16;
}

/* libc gives back what it got by other ways, and memory of threads that the dynamic linker, or the tracer, got. */
static int is_libc(const struct leak_stack *at)
{
	const char *object = at->count ? leak_frame_object(at->frames[0]) : "";

	return !strncmp(object, "libc.so", 7) || !strncmp(object, "ld-linux", 8);
}

static int block_given(struct leak_process *p, uint64_t address, const struct leak_stack *at, int64_t ns)
{
	struct leak_block *b = block_get(p, address, 0);
	int r;

	if (!b && is_older(p, address)) {
		p->older++;
		return 0;
	}
	if (!b && is_libc(at)) {
		p->internal++;
		return 0;
	}
	if (!b)
		return incident_add(p, WRONG_FOREIGN, address, at, NULL, ns);
	if (!b->is_live)
		return incident_add(p, WRONG_DOUBLE, address, at, b->group->stack, ns);
	r = group_gives(p, b->group, b->size, ns - b->ns);
	b->is_live = 0;
	b->ns = ns;
	p->freed++;
	return r;
}

/* in: the old address, out: the new one. */
static int block_moved(struct leaks *l, struct leak_process *p, const uint64_t *v, const struct leak_stack *stack,
	const bt_event *event, int64_t ns)
{
	const uint64_t in = v[0], size = v[1], out = v[2];
	struct leak_block *b = in ? block_get(p, in, 0) : NULL;
	int r = 0;

	if (!out && size) {		/* the old block stays */
		p->failed++;
		return 0;
	}
	if (b && b->is_taken_over && in != out) {
		b->is_taken_over = 0;
		p->unseen--;
		p->freed++;
	} else if (in) {
		r = block_given(p, in, stack, ns);
	}
	return r || !out ? r : block_got(l, p, out, size, stack, event, ns);
}

/* ---- taking ---- */

static int memory_take(struct leaks *l, struct leak_process *p, enum leak_event what, const uint64_t *v,
	const struct leak_stack *stack, const bt_event *event, int64_t ns)
{
	int r = 0;

	switch (what) {
	case LEAK_MALLOC:
		r = block_got(l, p, v[1], v[0], stack, event, ns);
		break;
	case LEAK_CALLOC:
		r = block_got(l, p, v[2], v[0] * v[1], stack, event, ns);
		break;
	case LEAK_MEMALIGN:
		r = block_got(l, p, v[2], v[1], stack, event, ns);
		break;
	case LEAK_POSIX_MEMALIGN:
		r = block_got(l, p, v[3] ? 0 : v[0], v[2], stack, event, ns);
		break;
	case LEAK_REALLOC:
		r = block_moved(l, p, v, stack, event, ns);
		break;
	default:
		if (v[0])
			r = block_given(p, v[0], stack, ns);
	}
	point_set(p, ns);
	return r;
}

static int event_see(struct leaks *l, const bt_event *event, int64_t ns)
{
	const struct leak_class *c = class_get(l, bt_event_borrow_class_const(event));
	const struct leak_stack *stack;
	uint64_t values[VALUES_MOST];
	const char *texts[VALUES_MOST];
	struct leak_process *p;
	struct space *space;

	if (!c)
		return -ENOMEM;
	if (c->what == LEAK_EVENTS)
		return 0;
	space = names_space(&l->calls->merge, event);
	p = space ? process_of(l, space, c, event, ns) : NULL;
	stack = p ? stack_get(l, space, c, event) : NULL;
	if (!stack)
		return -ENOMEM;
	if (!is_chosen(l, p))
		return 0;
	l->events++;
	p->last = ns;
	values_get(c, event, values, texts);
	if (c->what == LEAK_PROCESS) {
		p->begun = values[0] < BEGUN_UNKNOWN ? (enum leak_begun) values[0] : BEGUN_UNKNOWN;
		p->parent = (int64_t) values[1];
		p->heap_low = values[2];
		p->heap_mark = values[3];
		p->in_use = values[4];
		return 0;
	}
	if (c->what < LEAK_PROCESS)
		return memory_take(l, p, c->what, values, stack, event, ns);
	return leak_resource_take(p, c->what, values, texts, stack, ns);
}

int leaks_see(void *leaks, const bt_message *message)
{
	struct leaks *l = leaks;
	uint64_t count = 0;
	int64_t ns = 0;

	if (message_time(message, &ns) && l->at_text) {
		if (time_read(l->at_text, ns, &l->at) < 0) {
			say_error("--at %s: not a time, such as 12:47:45.2 or 2026-11-20T12:47:45", l->at_text);
			l->is_bad_time = 1;
			return -EINVAL;
		}
		l->at_text = NULL;
	}
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		return ns > l->at ? 0 : event_see(l, bt_message_event_borrow_event_const(message), ns);
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		bt_message_discarded_events_get_count(message, &count);
		l->lost += count & ~(UINT64_C(1) << 63);
		return 0;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		l->lost = UINT64_MAX;
		return 0;
	default:
		return 0;
	}
}

/* ---- groups by another key ---- */

/* A text that the group keeps. */
static char *key_of(const struct leaks *l, const struct leak_group *g)
{
	struct leak_frame *f = g->stack->count ? g->stack->frames[0] : NULL;
	char text[1700], function[1600];

	if (l->by == LEAK_BY_THREAD) {
		snprintf(text, sizeof(text), "thread %" PRId64, g->thread);
	} else if (!f) {
		snprintf(text, sizeof(text), "(not known)");
	} else if (l->by == LEAK_BY_OBJECT) {
		snprintf(text, sizeof(text), "%s", *leak_frame_object(f) ? leak_frame_object(f) : "(not known)");
	} else {
		leak_frame_function(f, function, sizeof(function));
		snprintf(text, sizeof(text), "%s [%s]", function, leak_frame_object(f));
	}
	return strdup(text);
}

static int group_add(struct leak_group *to, const struct leak_process *p, struct leak_group *from)
{
	group_settle(p, from);
	to->bytes += from->bytes;
	to->blocks += from->blocks;
	to->peak_bytes += from->peak_bytes;
	to->peak_blocks += from->peak_blocks;
	to->calls += from->calls;
	to->got += from->got;
	to->freed += from->freed;
	to->longest = from->longest > to->longest ? from->longest : to->longest;
	if (!from->lifetimes)
		return 0;
	if (!to->lifetimes)
		to->lifetimes = calloc(LIFETIMES, sizeof(*to->lifetimes));
	for (uint32_t i = 0; to->lifetimes && i < LIFETIMES; i++)
		to->lifetimes[i] += from->lifetimes[i];
	return to->lifetimes ? 0 : -ENOMEM;
}

struct leak_group **leaks_groups(struct leaks *l, struct leak_process *p, uint32_t *count)
{
	struct leak_group **groups = calloc(p->group_count + 1, sizeof(struct leak_group *)), *g;
	uint32_t n = 0;
	int r = groups ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < p->group_count; i++) {
		char *key = l->by == LEAK_BY_STACK ? NULL : key_of(l, p->list[i]);
		uint32_t k = 0;

		if (l->by != LEAK_BY_STACK)
			while (k < n && key && strcmp(groups[k]->key, key))
				k++;
		else
			k = n;
		if (k == n) {
			g = calloc(1, sizeof(*g));
			if (!g || (l->by != LEAK_BY_STACK && !key)) {
				free(g);
				r = -ENOMEM;
				break;
			}
			g->key = key;
			g->stack = l->by == LEAK_BY_STACK ? p->list[i]->stack : NULL;
			groups[n++] = g;
		} else {
			free(key);
		}
		r = group_add(groups[k], p, p->list[i]);
	}
	*count = n;
	if (r < 0) {
		leaks_groups_free(groups, n);
		return NULL;
	}
	return groups;
}

void leaks_groups_free(struct leak_group **groups, uint32_t count)
{
	for (uint32_t i = 0; groups && i < count; i++) {
		free((char *) (uintptr_t) groups[i]->key);
		free(groups[i]->lifetimes);
		free(groups[i]);
	}
	free(groups);
}

/* ---- begin and end ---- */

void leaks_init(struct leaks *l, struct calls *calls)
{
	memset(l, 0, sizeof(*l));
	l->calls = calls;
	l->at = INT64_MAX;
	l->frames = (struct spi_hash) SPI_HASH_OVER(l->frame_buckets);
	l->stacks = (struct spi_hash) SPI_HASH_OVER(l->stack_buckets);
}

static void process_drop(struct leak_process *p)
{
	for (uint32_t i = 0; i < p->group_count; i++) {
		free(p->list[i]->lifetimes);
		free(p->list[i]);
	}
	for (uint32_t i = 0; i < p->resource_count; i++)
		free(p->resources[i].text);
	free(p->list);
	free(p->blocks);
	free(p->incidents);
	free(p->resources);
	free(p->points);
	free(p);
}

void leaks_free(struct leaks *l)
{
	for (struct leak_process *p = l->list, *next; p; p = next) {
		next = p->next;
		process_drop(p);
	}
	for (struct leak_class *c = l->classes, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	for (struct leak_frame *f = spi_hash_next(&l->frames, NULL), *after; f; f = after) {
		after = spi_hash_next(&l->frames, &f->link);
		free(f->text);
		free(f);
	}
	for (struct leak_stack *s = spi_hash_next(&l->stacks, NULL), *after; s; s = after) {
		after = spi_hash_next(&l->stacks, &s->link);
		free(s);
	}
}
