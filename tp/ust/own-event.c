/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The tracer's own events, from a list of fields. Each has a provider description of its own, as most programs need
 * some of them only, and each event that is registered costs a program's start a question to the session daemon.
 */
#include "liblttng-spi/objects/objects.h"
#include "tp/ust/ust.h"

#define INTEGER(bits, signed_, base_) { \
	.parent = { lttng_ust_type_integer }, .struct_size = sizeof(struct lttng_ust_type_integer), .size = bits, \
	.alignment = 8, .signedness = signed_, .base = base_ }
#define SIZES(signed_, base_) \
	{ INTEGER(8, signed_, base_), INTEGER(16, signed_, base_), INTEGER(32, signed_, base_), \
		INTEGER(64, signed_, base_) }
const struct lttng_ust_type_integer tp_integers[2][2][4] = {
	{ SIZES(0, 10), SIZES(1, 10) }, { SIZES(0, 16), SIZES(1, 16) },
};
const struct lttng_ust_type_string tp_string_type = {
	.parent = { lttng_ust_type_string }, .struct_size = sizeof(tp_string_type),
	.encoding = lttng_ust_string_encoding_UTF8,
};
static const struct lttng_ust_type_sequence words = {
	.parent = { lttng_ust_type_sequence }, .struct_size = sizeof(words), .length_name = TP_WORDS_LENGTH,
	.elem_type = &tp_integers[1][0][3].parent, .encoding = lttng_ust_string_encoding_none,
};
static const struct {
	const struct lttng_ust_type_common *type;
	struct tp_column column;
} kinds[] = {
	[TP_OWN_LABELS] = { NULL, { TP_COLUMN_UNSIGNED, 1, 1 } },
	[TP_OWN_U32] = { &tp_integers[0][0][2].parent, { TP_COLUMN_UNSIGNED, 4, 1 } },
	[TP_OWN_U64] = { &tp_integers[0][0][3].parent, { TP_COLUMN_UNSIGNED, 8, 1 } },
	[TP_OWN_HEX] = { &tp_integers[1][0][3].parent, { TP_COLUMN_UNSIGNED, 8, 1 } },
	[TP_OWN_I32] = { &tp_integers[0][1][2].parent, { TP_COLUMN_SIGNED, 4, 1 } },
	[TP_OWN_I64] = { &tp_integers[0][1][3].parent, { TP_COLUMN_SIGNED, 8, 1 } },
	[TP_OWN_TEXT] = { &tp_string_type.parent, { TP_COLUMN_STRING, 1, 1 } },
	[TP_OWN_WORDS] = { &words.parent, { 0 } },
	[TP_OWN_SEQUENCE] = { NULL, { 0 } },
};

/* Enumerations belong to a provider, which is never unregistered. */
const struct lttng_ust_type_common *tp_enum_type(const char *name, const struct lttng_ust_enum_entry **labels,
	unsigned int n, const struct lttng_ust_type_integer *container)
{
	static const struct lttng_ust_probe_desc owner = {
		.struct_size = sizeof(owner), .provider_name = TP_PROVIDER, .major = 3,
	};
	struct lttng_ust_enum_desc *desc = tp_alloc(sizeof(*desc));
	struct lttng_ust_type_enum *type = tp_alloc(sizeof(*type));

	if (!desc || !type)
		return NULL;
	*desc = (struct lttng_ust_enum_desc) {
		.struct_size = sizeof(*desc), .name = name, .entries = labels, .nr_entries = n, .probe_desc = &owner };
	*type = (struct lttng_ust_type_enum) { .parent = { lttng_ust_type_enum }, .struct_size = sizeof(*type),
		.desc = desc, .container_type = &container->parent };
	return &type->parent;
}

const struct lttng_ust_type_common *tp_labels_type(const char *name, const char *const *labels, unsigned int n)
{
	struct lttng_ust_enum_entry *entries = tp_alloc(n * sizeof(*entries));
	const struct lttng_ust_enum_entry **list = tp_alloc(n * sizeof(*list));

	if (!entries || !list)
		return NULL;
	for (unsigned int i = 0; i < n; i++) {
		entries[i].struct_size = sizeof(entries[i]);
		entries[i].start.value = entries[i].end.value = i;
		entries[i].string = labels[i];
		list[i] = &entries[i];
	}
	return tp_enum_type(name, list, n, &tp_integers[0][0][0]);
}

static void event_make(struct tp_own *own, const char *provider, const char *name)
{
	struct tp_event *event = &own->event;

	own->class = tp_class(own->field_list, own->field_count, &own->probe);
	own->desc = tp_desc(name, &own->class);
	own->descs[0] = &own->desc;
	own->probe = tp_provider(provider, own->descs, 1);
	own->tracepoint = tp_tracepoint(provider, name);
	own->list[0] = &own->tracepoint;
	event->tracepoint = &own->tracepoint;
	event->columns = own->columns;
	event->column_count = own->field_count && own->fields[0].nofilter ? 0 : own->field_count;	/* what filters see */
	event->is_end = 1;
	event->probe.struct_size = sizeof(event->probe);
}

int tp_own_register(struct tp_own *own, const char *provider, const char *name, const struct tp_own_field *fields,
	unsigned int n)
{
	if (own->is_registered)
		return 0;
	own->field_count = n;
	for (unsigned int i = 0; i < n; i++) {
		own->fields[i] = (struct lttng_ust_event_field) { .struct_size = sizeof(own->fields[i]),
			.name = fields[i].name, .type = kinds[fields[i].kind].type ? kinds[fields[i].kind].type : own->labels };
		own->fields[i].nofilter = fields[n - 1].kind >= TP_OWN_WORDS;
		own->field_list[i] = &own->fields[i];
		own->columns[i] = kinds[fields[i].kind].column;
	}
	event_make(own, provider, name);
	if (tp_event_name_use(provider, name) || lttng_ust_tracepoint_module_register(own->list, 1) ||
			!lttng_ust_probe_register(&own->probe))
		return -1;
	own->is_registered = 1;
	return 0;
}

struct tp_event tp_own_event(const struct tp_own *own, uint64_t address)
{
	struct tp_event event = own->event;

	event.probe.ip = (void *) address;
	return event;
}

struct tp_near *tp_near_find(struct tp_near *const *all, const struct spi_object *object)
{
	struct tp_near *near = __atomic_load_n(all, __ATOMIC_ACQUIRE);

	while (near && near->object != object)
		near = near->next;
	return near;
}

struct tp_near *tp_near_get(struct tp_near **all, struct spi_object *object, const char *provider,
	const char *const *names, int n, const char **why)
{
	struct tp_near *near = tp_near_find(all, object);
	struct lttng_ust_tracepoint *tracepoints;

	if (near)
		return near;
	near = tp_alloc(sizeof(*near));
	tracepoints = tp_core->near_alloc(object, (size_t) n * sizeof(*tracepoints), 64);
	*why = "no memory near the object";
	if (!near || !tracepoints)
		return NULL;
	for (int i = 0; i < n; i++) {
		tracepoints[i] = tp_tracepoint(provider, names[i]);
		near->list[i] = &tracepoints[i];
	}
	*why = "LTTng-UST refused the events of the object";
	if (lttng_ust_tracepoint_module_register(near->list, n))
		return NULL;
	near->object = object;
	near->next = *all;
	__atomic_store_n(all, near, __ATOMIC_RELEASE);
	return near;
}
