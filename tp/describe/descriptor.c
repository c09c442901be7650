/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Descriptors at run time: from functions of a code map to LTTng-UST events.
 *
 * All points of one request are registered as one provider description, named
 * "spi" like those before it: a provider for each event costs quadratic time.
 * A provider is never unregistered, and nothing it points to is freed, since
 * lttng-ust can do neither safely; a removed function's events stay known and
 * are used again when the function is instrumented again.
 *
 * A session's processes write into common buffers with one common description of all events. One bad descriptor makes
 * the whole trace unreadable for everybody, and lttng-ust does not look. So whatever debug info says, descriptors are
 * sound as they are made: names of events and labels are printable ASCII without " and \, and shorter than lttng-ust's
 * 255 characters with their provider and number; names of fields are C identifiers, unique in their event as readers
 * see them; provider:event is unique in the process; an enumeration has at least one label and TP_LABELS_MAX at most,
 * of its container's sign and range (types.c); an array has integers, and fits into a record (compile.c).
 *
 * <function>_entry has a field for each parameter, <function>_exit those of the
 * returned value. With one event a call, <function> has both, and `duration` in
 * nanoseconds and `left`, how the call ended.
 */
#include <errno.h>
#include <string.h>
#include <lttng/ust-abi.h>
#include "liblttng-spi/base/base.h"
#include "tp/describe/draft.h"

#define FIELD_NAME_MAX		200u
#define BASE_NAME_MAX		220u	/* of an event, without provider and suffixes */
#define ONE_RESULT_MAX		400u	/* bytes of a returned value in a one-event record */

struct batch {
	struct lttng_ust_probe_desc *provider;
	const struct lttng_ust_event_desc **events;
	struct lttng_ust_tracepoint **tracepoints;
	unsigned int n;
	const char *const *place;	/* of the point that is described now; NULL: not known */
};

/* ---- fields ---- */

static int name_taken(const struct draft *d, const char *name)
{
	for (unsigned int i = 0; i < d->names_count; i++)
		if (tp_names_clash(d->names[i], name))
			return 1;
	return 0;
}

const char *tp_draft_name(struct draft *d, const char *raw, unsigned int number)
{
	char name[FIELD_NAME_MAX + 16];
	unsigned int again = 1;
	size_t n;

	if (*raw)
		tp_name_identifier(name, raw, FIELD_NAME_MAX);
	else
		spi_format(name, sizeof(name), "arg%u", number);
	n = strlen(name);
	while (name_taken(d, name)) {
		again++;
		spi_format(name + n, sizeof(name) - n, "_%u", again);
	}
	return d->names_count < TP_FIELDS_MAX ? d->names[d->names_count++] = tp_strndup(name, strlen(name)) : NULL;
}

int tp_draft_begin(struct draft *d, const struct spi_map *map)
{
	memset(d, 0, sizeof(*d));
	d->map = map;
	d->fields = tp_alloc(TP_FIELDS_MAX * sizeof(*d->fields));
	d->columns = tp_alloc(TP_FIELDS_MAX * sizeof(*d->columns));
	return d->fields && d->columns ? 0 : -ENOMEM;
}

int tp_draft_add(
	struct draft *d, const char *name, const struct lttng_ust_type_common *type, struct tp_column column)
{
	struct lttng_ust_event_field *f = tp_alloc(sizeof(*f));

	if (!f || !name || !type || d->n == TP_FIELDS_MAX)
		return -ENOMEM;
	f->struct_size = sizeof(*f);
	f->name = name;
	f->type = type;
	d->columns[d->n] = column;
	d->fields[d->n++] = f;
	return 0;
}

/* Add the kept ones of n map fields; names[] as tp_draft_name() gave them, or NULL to find them now. */
int tp_draft_add_all(
	struct draft *d, const struct spi_map_field *fields, unsigned int n, const uint8_t *keep, const char **names)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct lttng_ust_type_common *type;
		const char *name;
		struct tp_column column;
		int r;

		if (!keep[i])
			continue;
		name = names ? names[i] : tp_draft_name(d, spi_map_string(d->map, fields[i].name), fields[i].param + 1);
		type = tp_type_make(d->map, &fields[i], &column);
		r = tp_draft_add(d, name, type, column);
		if (r < 0)
			return r;
	}
	return 0;
}

int tp_draft_add_not_known(struct draft *d, const struct tp_not_known *what)
{
	static const struct spi_map_field text = { .kind = SPI_KIND_TEXT, .size = 1, .base = 10 };
	struct tp_column column;
	const struct lttng_ust_type_common *type = tp_type_make(d->map, &text, &column);

	return tp_not_known_text(what) ? tp_draft_add(d, tp_draft_name(d, "not_known", 0), type, column) : 0;
}

/* ---- events ---- */

struct lttng_ust_event_desc *tp_draft_event(const struct draft *d, const char *name,
	const struct lttng_ust_probe_desc *provider, const char *const *place)
{
	struct lttng_ust_tracepoint_class *c = tp_alloc(sizeof(*c));
	struct lttng_ust_event_desc *e = tp_alloc(sizeof(*e));

	if (!c || !e)
		return NULL;
	*c = tp_class(d->fields, d->n, provider);
	*e = tp_desc(name, c);
	e->model_emf_uri = (const char **) (uintptr_t) place;
	return e;
}

/* Put an event into the batch, under a name that is not in use; fills *event for firing. NULL, or why it is refused. */
static const char *event_add(struct batch *b, struct tp_event *event, struct lttng_ust_tracepoint *tracepoint,
	const char *name, struct draft *d, const struct spi_point *point)
{
	struct lttng_ust_event_desc *desc = tp_draft_event(d, name, b->provider, b->place);

	if (!desc || tp_event_name_use(TP_PROVIDER, name) < 0)
		return "no memory";
	*tracepoint = tp_tracepoint(TP_PROVIDER, name);
	event->tracepoint = tracepoint;
	event->probe.struct_size = sizeof(event->probe);
	event->probe.ip = (void *) point->address;
	event->columns = d->columns;
	event->column_count = d->n;
	b->events[b->n] = desc;
	b->tracepoints[b->n++] = tracepoint;
	return NULL;
}

/* ---- event names ---- */

/* Over-long C++ names are cut, and told apart by a hash of the whole: "~" and 8 digits. */
static void name_base(char *to, const char *raw)
{
	uint32_t hash = (uint32_t) spi_hash_text(SPI_HASH_SEED, raw) | UINT32_C(1) << 31;

	tp_name_printable(to, *raw ? raw : "_", BASE_NAME_MAX);
	if (strlen(raw) > BASE_NAME_MAX)
		spi_format(to + BASE_NAME_MAX - 9, 10, "~%x", hash);
}

/* Same-named functions of other objects get "@2" and so on behind the name; first and second share the number. */
static int names_make(const char *raw, const char *suffix0, const char *suffix1, const char **name0, const char **name1)
{
	char base[BASE_NAME_MAX + 16], first[BASE_NAME_MAX + 32], second[BASE_NAME_MAX + 32];
	size_t n;

	name_base(base, raw);
	n = strlen(base);
	for (unsigned int number = 1; number < 10000; number++) {
		if (number > 1)
			spi_format(base + n, sizeof(base) - n, "@%u", number);
		spi_format(first, sizeof(first), "%s%s", base, suffix0);
		spi_format(second, sizeof(second), "%s%s", base, suffix1);
		if (tp_event_name_is_used(TP_PROVIDER, first) || tp_event_name_is_used(TP_PROVIDER, second))
			continue;
		*name0 = tp_strndup(first, strlen(first));
		*name1 = tp_strndup(second, strlen(second));
		return *name0 && *name1 ? 0 : -ENOMEM;
	}
	return -EEXIST;
}

/* ---- points ---- */

void tp_fields_of(struct tp_fields *f, const struct spi_point *point)
{
	const struct spi_map_func *func = point->func;

	f->entry = SPI_MAP_AT(point->map, fields, struct spi_map_field, func->field_first);
	f->result = f->entry + func->field_count;
	f->entry_count = func->field_count < TP_FIELDS_LOOKED_AT ? func->field_count : TP_FIELDS_LOOKED_AT;
	f->result_count = func->ret_count < TP_FIELDS_LOOKED_AT ? func->ret_count : TP_FIELDS_LOOKED_AT;
}

static void fields_note(const struct spi_point *point, const struct tp_fields *f)
{
	unsigned int n = point->func->field_count + point->func->ret_count;

	for (unsigned int i = 0; i < f->entry_count; i++)
		n -= f->entry_keep[i] || !spi_place_is_known(f->entry[i].place);
	for (unsigned int i = 0; i < f->result_count; i++)
		n -= f->result_keep[i] || !spi_place_is_known(f->result[i].place);
	if (n)
		tp_core->note("%s: %u fields are left out; an event has at most %u, and %u bytes", point->event_name, n,
			TP_FIELDS_MAX, TP_RECORD_MAX);
}

/* Which fields there are does not depend on the length of strings (compile.c): the events serve records of all lengths. */
static void events_share(struct tp_point *tp, const struct spi_point *other)
{
	const struct tp_point *from = other->payload;

	tp->entry = from->entry;
	tp->exit = from->exit;
}

/* One of the two events, and its program. NULL, or why not. */
static const char *half_make(struct batch *b, const struct spi_point *point, const struct spi_map_field *fields,
	unsigned int n, uint8_t *keep, int is_exit, const char *name, struct tp_event *event,
	const struct tp_program **program, struct lttng_ust_tracepoint *tracepoint)
{
	struct tp_not_known lacks = { .length = 0 };
	struct draft draft;

	tp_not_known_add(&lacks, point->map, fields, n);
	*program = tp_compile(fields, n, TP_RECORD_MAX, is_exit, keep, tp_not_known_text(&lacks));
	if (!*program)
		return "no memory";
	if (point->events_of)
		return NULL;
	if (tp_draft_begin(&draft, point->map) < 0 || tp_draft_add_all(&draft, fields, n, keep, NULL) < 0 ||
			tp_draft_add_not_known(&draft, &lacks) < 0)
		return "no memory";
	return event_add(b, event, tracepoint, name, &draft, point);
}

static const char *bind_pair(
	struct batch *b, struct spi_point *point, struct tp_point *tp, struct lttng_ust_tracepoint *tracepoints)
{
	const char *entry_name = NULL, *exit_name = NULL;
	struct tp_fields f;
	const char *why;

	tp_fields_of(&f, point);
	if (point->events_of)
		events_share(tp, point->events_of);
	else if (names_make(point->event_name, "_entry", "_exit", &entry_name, &exit_name) < 0)
		return "no event name free";
	why = half_make(b, point, f.entry, f.entry_count, f.entry_keep, 0, entry_name, &tp->entry, &tp->entry_program,
		tracepoints);
	if (why)
		return why;
	why = half_make(b, point, f.result, f.result_count, f.result_keep, 1, exit_name, &tp->exit, &tp->exit_program,
		tracepoints + 1);
	if (point->events_of)
		return why;
	if (why)
		b->n--;		/* the entry alone is not wanted */
	else
		fields_note(point, &f);
	return why;
}

/* What is left of a one-event record for arguments is the same whatever the length of strings. */
static unsigned int one_result_room(const struct tp_fields *f, const struct tp_program *program)
{
	for (unsigned int i = 0; i < f->result_count; i++)
		if (tp_is_string(&f->result[i]))
			return ONE_RESULT_MAX;
	return program->length;
}

static const char *bind_one(
	struct batch *b, struct spi_point *point, struct tp_point *tp, struct lttng_ust_tracepoint *tracepoint)
{
	const char *duration, *left, *names[TP_FIELDS_MAX] = { NULL }, *name, *same, *why;
	struct tp_not_known lacks = { .length = 0 };
	struct tp_fields f;
	struct draft d;

	tp_fields_of(&f, point);
	if (f.result_count > TP_FIELDS_MAX / 2)
		f.result_count = TP_FIELDS_MAX / 2;
	tp->exit_program = tp_compile(f.result, f.result_count, ONE_RESULT_MAX, 1, f.result_keep, NULL);
	if (f.entry_count > TP_FIELDS_MAX - 3 - f.result_count)
		f.entry_count = TP_FIELDS_MAX - 3 - f.result_count;
	tp_not_known_add(&lacks, point->map, f.entry, f.entry_count);
	tp_not_known_add(&lacks, point->map, f.result, f.result_count);
	tp->entry_program = tp->exit_program ? tp_compile(f.entry, f.entry_count,
		TP_AREA_LARGE - TP_SLOP - TP_ONE_EXTRA - one_result_room(&f, tp->exit_program), 0, f.entry_keep,
		tp_not_known_text(&lacks)) : NULL;
	if (!tp->entry_program)
		return "no memory";
	if (point->events_of) {
		events_share(tp, point->events_of);
		return NULL;
	}
	if (names_make(point->event_name, "", "", &name, &same) < 0)
		return "no event name free";
	if (tp_draft_begin(&d, point->map) < 0)
		return "no memory";
	/* what is ours keeps its name, parameters give way */
	duration = tp_draft_name(&d, "duration", 0);
	left = tp_draft_name(&d, "left", 0);
	for (unsigned int i = 0; i < f.result_count; i++)
		if (f.result_keep[i])
			names[i] = tp_draft_name(&d, spi_map_string(d.map, f.result[i].name), 0);
	if (tp_draft_add_all(&d, f.entry, f.entry_count, f.entry_keep, NULL) < 0 ||
			tp_draft_add_not_known(&d, &lacks) < 0 ||
			tp_draft_add_all(&d, f.result, f.result_count, f.result_keep, names) < 0 ||
			tp_draft_add(&d, duration, &tp_integers[0][0][3].parent,
				(struct tp_column) { TP_COLUMN_UNSIGNED, 8, 1 }) < 0 ||
			tp_draft_add(&d, left, tp_left_type, (struct tp_column) { TP_COLUMN_UNSIGNED, 1, 1 }) < 0)
		return "no memory";
	why = event_add(b, &tp->entry, tracepoint, name, &d, point);
	if (!why)
		fields_note(point, &f);
	return why;
}

static const char *bind_point(struct batch *b, struct spi_point *point, struct tp_point **made)
{
	struct tp_point *tp = tp_alloc(sizeof(*tp));
	struct lttng_ust_tracepoint *tracepoints = point->events_of ? NULL :
		tp_core->near_alloc(point->object, 2 * sizeof(*tracepoints), 64);
	const char *why;

	if (!tracepoints && !point->events_of)
		return "no memory near the object";
	if (!tp)
		return "no memory";
	b->place = point->events_of ? NULL : tp_place_of(point);
	if (point->flags & SPI_POINT_ONE_EVENT)
		why = bind_one(b, point, tp, tracepoints);
	else
		why = bind_pair(b, point, tp, tracepoints);
	if (!why)
		*made = tp;
	return why;
}

static int batch_begin(struct batch *b, unsigned int n)
{
	b->n = 0;
	b->provider = tp_alloc(sizeof(*b->provider));
	b->events = tp_alloc(2 * n * sizeof(*b->events));
	b->tracepoints = tp_alloc(2 * n * sizeof(*b->tracepoints));
	if (!b->provider || !b->events || !b->tracepoints)
		return -ENOMEM;
	*b->provider = tp_provider(TP_PROVIDER, b->events, 0);
	return 0;
}

static int batch_register(struct batch *b)
{
	if (!b->n)
		return 0;
	b->provider->nr_events = b->n;
	if (lttng_ust_tracepoint_module_register(b->tracepoints, (int) b->n))
		return -EIO;
	return lttng_ust_probe_register(b->provider) ? 0 : -EIO;
}

int tp_describe(struct spi_point **points, unsigned int n, struct tp_point **made, const char **errors)
{
	struct batch batch;

	if (!n)
		return 0;
	if (batch_begin(&batch, n) < 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < n; i++)
		errors[i] = bind_point(&batch, points[i], &made[i]);
	if (batch_register(&batch) < 0)
		for (unsigned int i = 0; i < n; i++)
			if (!errors[i])
				errors[i] = "LTTng-UST refused the events";
	return 0;
}
