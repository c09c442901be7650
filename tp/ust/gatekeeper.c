/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A session's processes write into common buffers with one common description of
 * all events (metadata). One bad event descriptor of one process makes the whole
 * trace unreadable for everybody, and lttng-ust does not look: it hands on what
 * the macros could never have made wrong. So each descriptor is checked here,
 * strictly, by what is known to be safe rather than by what is known to break:
 *
 * - names: C identifiers for fields, unique in their event as readers see them; printable ASCII
 *   without " and \ for events and labels; provider:event unique in the process
 *   and within lttng-ust's 255 characters;
 * - enumerations: labels of one sign and range with their container, not too many;
 * - arrays: of integers, none empty or longer than a record.
 *
 * Integers, floats and strings have types that are constants (describe/types.c), which no program's data reach.
 */
#include <string.h>
#include <lttng/ust-abi.h>
#include "liblttng-spi/base/base.h"
#include "tp/ust/ust.h"

#define ARRAY_MAX	TP_RECORD_MAX

static int printable(const char *s)
{
	if (!s || !*s)
		return 0;
	for (; *s; s++)
		if (*s < ' ' || *s > '~' || *s == '"' || *s == '\\')
			return 0;
	return 1;
}

static int identifier(const char *s)
{
	if (!s || !*s || (*s >= '0' && *s <= '9'))
		return 0;
	for (; *s; s++)
		if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s == '_'))
			return 0;
	return 1;
}

/* ---- types ---- */

static const char *check_entry(const struct lttng_ust_enum_entry *e, const struct lttng_ust_type_integer *container)
{
	unsigned int unused = 64 - container->size;
	int64_t low = (int64_t) e->start.value, high = (int64_t) e->end.value;

	if (!printable(e->string))
		return "an enumeration label with a character that breaks traces";
	if (e->start.signedness != container->signedness || e->end.signedness != container->signedness)
		return "an enumeration label of another sign than its container";
	if (container->signedness) {
		if (low > high || low != (int64_t) ((uint64_t) low << unused) >> unused ||
			high != (int64_t) ((uint64_t) high << unused) >> unused)
			return "an enumeration range that is empty or beyond its container";
	} else if ((uint64_t) low > (uint64_t) high || (unused && (uint64_t) high >> container->size)) {
		return "an enumeration range that is empty or beyond its container";
	}
	return NULL;
}

static const char *check_enum(const struct lttng_ust_type_enum *t)
{
	const struct lttng_ust_enum_desc *desc = t->desc;
	const char *why;

	if (!printable(desc->name) || strlen(desc->name) >= LTTNG_UST_ABI_SYM_NAME_LEN)
		return "an enumeration name that breaks traces";
	if (!desc->nr_entries || desc->nr_entries > TP_LABELS_MAX)
		return "an enumeration with no labels or too many";
	for (unsigned int i = 0; i < desc->nr_entries; i++) {
		why = check_entry(desc->entries[i], (const struct lttng_ust_type_integer *) t->container_type);
		if (why)
			return why;
	}
	return NULL;
}

static const char *check_array(const struct lttng_ust_type_array *t)
{
	const struct lttng_ust_type_integer *elem = (const struct lttng_ust_type_integer *) t->elem_type;

	if (!t->length || t->length > ARRAY_MAX || t->length * (elem->size / 8) > ARRAY_MAX)
		return "an array that is empty or too long";
	return NULL;
}

static const char *check_type(const struct lttng_ust_type_common *type)
{
	if (!type)
		return "a field without a type";
	if (type->type == lttng_ust_type_enum)
		return check_enum((const struct lttng_ust_type_enum *) type);
	return type->type == lttng_ust_type_array ? check_array((const struct lttng_ust_type_array *) type) : NULL;
}

int tp_names_clash(const char *a, const char *b)
{
	return !strcmp(a, b) || (*a == '_' && !strcmp(a + 1, b)) || (*b == '_' && !strcmp(a, b + 1));
}

static const char *check_fields(const struct lttng_ust_tracepoint_class *c)
{
	if (c->nr_fields > TP_FIELDS_MAX)
		return "too many fields";
	for (size_t i = 0; i < c->nr_fields; i++) {
		const struct lttng_ust_event_field *f = c->fields[i];
		const char *why;

		if (!identifier(f->name) || strlen(f->name) >= LTTNG_UST_ABI_SYM_NAME_LEN - 2)
			return "a field name that is not an identifier";
		for (size_t k = 0; k < i; k++)
			if (tp_names_clash(c->fields[k]->name, f->name))
				return "two fields of one name";
		why = check_type(f->type);
		if (why)
			return why;
	}
	return NULL;
}

/* ---- names in use ---- */

struct used_name {
	struct spi_hash_link link;
	const char *provider, *event;
};
static struct spi_hash names;	/* agent thread only */

static uint64_t name_hash(const char *provider, const char *event)
{
	return spi_hash_text(spi_hash_text(spi_hash_text(SPI_HASH_SEED, provider), ":"), event);
}

int tp_gate_name_used(const char *provider, const char *event)
{
	const struct used_name *n = spi_hash_find(&names, name_hash(provider, event));

	while (n && (strcmp(n->event, event) || strcmp(n->provider, provider)))
		n = spi_hash_again(&n->link);
	return n != NULL;
}

/* The former buckets are left: memory of the core's is not given back. */
static int name_use(const char *provider, const char *event)
{
	struct used_name *n = tp_core->alloc(sizeof(*n));

	if (n && names.count >= names.size) {
		size_t size = names.size ? names.size * 2 : 1024;
		struct spi_hash_link **buckets = tp_core->alloc(size * sizeof(*buckets));

		if (buckets)
			spi_hash_move(&names, buckets, size);
	}
	if (!n || !names.size)
		return -1;
	n->provider = provider;
	n->event = event;
	spi_hash_add(&names, &n->link, name_hash(provider, event));
	return 0;
}

const char *tp_gate_event(const char *provider, const struct lttng_ust_event_desc *event)
{
	const struct lttng_ust_tracepoint_class *c = event->tp_class;
	const char *why;

	if (!printable(provider) || !printable(event->event_name))
		return "an event name with a character that breaks traces";
	if (strlen(provider) + 1 + strlen(event->event_name) >= LTTNG_UST_ABI_SYM_NAME_LEN)
		return "an event name that is too long";
	why = check_fields(c);
	if (why)
		return why;
	if (tp_gate_name_used(provider, event->event_name))
		return "an event name that is in use already";
	return name_use(provider, event->event_name) < 0 ? "no memory" : NULL;
}
