/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Types. Most fields of most programs have one of twenty types, which stand
 * ready; enumerations are made once each, and arrays as they come.
 *
 * An enumeration becomes a list of labels without repeats: of two labels with
 * one value the first is kept, repeated labels get a number. One with more labels than readers bear is
 * recorded as the integer that it is.
 */
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "tp/describe/describe.h"

static const struct lttng_ust_type_float float_type = {
	.parent = {lttng_ust_type_float},
	.struct_size = sizeof(float_type),
	.mant_dig = 24,
	.exp_dig = 8,
	.alignment = 8,
};
static const struct lttng_ust_type_float double_type = {
	.parent = {lttng_ust_type_float},
	.struct_size = sizeof(double_type),
	.mant_dig = 53,
	.exp_dig = 11,
	.alignment = 8,
};
static const struct lttng_ust_type_array char_type = {
	.parent = {lttng_ust_type_array},
	.struct_size = sizeof(char_type),
	.elem_type = &tp_integers[0][1][0].parent,
	.length = 1,
	.encoding = lttng_ust_string_encoding_UTF8,
};

static const struct lttng_ust_type_common *bool_type(void)
{
	static const struct lttng_ust_enum_entry labels[] = {
		{ .struct_size = sizeof(labels[0]), .start = { .value = 0 }, .end = { .value = 0 }, .string = "false" },
		{ .struct_size = sizeof(labels[0]), .start = { .value = 1 }, .end = { .value = 255 }, .string = "true" },
	};
	static const struct lttng_ust_enum_entry *list[] = { &labels[0], &labels[1] };
	static const struct lttng_ust_type_common *type;

	if (!type)
		type = tp_enum_type("spi_bool", list, 2, &tp_integers[0][0][0]);
	return type;
}

/* ---- names ---- */

void tp_name_identifier(char *to, const char *s, size_t n)
{
	size_t i = 0;

	if (*s >= '0' && *s <= '9' && n)
		to[i++] = '_';
	for (; *s && i < n; s++, i++)
		to[i] = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ? *s : '_';
	to[i] = '\0';
}

void tp_name_printable(char *to, const char *s, size_t n)
{
	size_t i;

	for (i = 0; s[i] && i < n; i++) {
		to[i] = s[i];
		if (s[i] == '"')
			to[i] = '\'';
		else if (s[i] == '\\' || s[i] < ' ' || s[i] > '~')
			to[i] = '_';
	}
	to[i] = '\0';
}

/* ---- enumerations ---- */

static unsigned int size_class(unsigned int size)
{
	return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

static const struct lttng_ust_type_integer *integer_for(const struct spi_map_field *f)
{
	return &tp_integers[f->base == 16][!!f->is_signed][size_class(f->size)];
}

/* A label's value as the container shows it. */
static uint64_t value_fit(int64_t value, const struct lttng_ust_type_integer *container)
{
	unsigned int unused = 64 - container->size;

	return container->signedness ? (uint64_t) ((int64_t) ((uint64_t) value << unused) >> unused)
				     : (uint64_t) value << unused >> unused;
}

/* Enumerations made so far, by code map entry and container. */
struct made {
	struct spi_hash_link link;
	const struct spi_map_enum *from;
	const struct lttng_ust_type_integer *container;
	const struct lttng_ust_type_common *type;	/* NULL: recorded as integer */
};
static struct spi_hash_link *made_buckets[256];
static struct spi_hash made = SPI_HASH_OVER(made_buckets);

struct labels {
	struct lttng_ust_enum_entry *entries;
	const struct lttng_ust_enum_entry **list;
	unsigned int n;
};

static int value_taken(const struct labels *l, uint64_t value)
{
	for (unsigned int i = 0; i < l->n; i++)
		if (value - l->entries[i].start.value <= l->entries[i].end.value - l->entries[i].start.value)
			return 1;
	return 0;
}

/* Returns a copy of the label, numbered when some other value has it already. */
static const char *label_name(const struct labels *l, const char *raw)
{
	char name[128], numbered[144];
	unsigned int number = 1;
	size_t n;

	tp_name_printable(name, *raw ? raw : "_", sizeof(name) - 1);
	memcpy(numbered, name, sizeof(name));
	n = strlen(name);
	for (unsigned int i = 0; i < l->n; i++) {
		if (strcmp(l->entries[i].string, numbered))
			continue;
		number++;
		spi_format(numbered + n, sizeof(numbered) - n, "_%u", number);
		i = (unsigned int) -1;		/* look again from the start */
	}
	return tp_strndup(numbered, strlen(numbered));
}

static int label_put(struct labels *l, uint64_t low, uint64_t high, const char *raw,
	const struct lttng_ust_type_integer *container)
{
	struct lttng_ust_enum_entry *e = &l->entries[l->n];

	e->string = label_name(l, raw);
	if (!e->string)
		return -1;
	e->struct_size = sizeof(*e);
	e->start.value = low;
	e->end.value = high;
	e->start.signedness = e->end.signedness = container->signedness;
	l->list[l->n++] = e;
	return 0;
}

/* The label for what no other has: the values below and above those of the others; unsigned containers only. */
static int label_rest(struct labels *l, const char *raw, const struct lttng_ust_type_integer *container)
{
	uint64_t low = UINT64_MAX, high = 0, most = UINT64_MAX >> (64 - container->size);

	for (unsigned int i = 0; i < l->n; i++) {
		low = l->entries[i].start.value < low ? l->entries[i].start.value : low;
		high = l->entries[i].end.value > high ? l->entries[i].end.value : high;
	}
	if (container->signedness)
		return 0;
	if (!l->n)
		return label_put(l, 0, most, raw, container);
	if (low && label_put(l, 0, low - 1, raw, container) < 0)
		return -1;
	return high < most ? label_put(l, high + 1, most, raw, container) : 0;
}

static const struct lttng_ust_type_common *enum_build(const struct spi_map *map, const struct spi_map_enum *from,
	const struct lttng_ust_type_integer *container)
{
	const struct spi_map_label *labels = SPI_MAP_AT(map, labels, struct spi_map_label, from->label_first);
	const char *raw = spi_map_string(map, from->name), *rest = NULL;
	struct labels l = { 0 };
	char name[128];

	/* The label for the rest may become two. */
	l.entries = tp_alloc((from->label_count + 2) * sizeof(*l.entries));
	l.list = tp_alloc((from->label_count + 2) * sizeof(*l.list));
	if (!l.entries || !l.list)
		return NULL;
	for (uint32_t i = 0; i < from->label_count; i++) {
		const char *label = spi_map_string(map, labels[i].name);
		uint64_t value = value_fit(labels[i].value, container);

		if (labels[i].is_rest)
			rest = label;
		else if (!value_taken(&l, value) && label_put(&l, value, value, label, container) < 0)
			return NULL;
	}
	if ((rest && label_rest(&l, rest, container) < 0) || !l.n)
		return NULL;
	tp_name_printable(name, *raw ? raw : "enum", sizeof(name) - 1);
	raw = tp_strndup(name, strlen(name));
	return raw ? tp_enum_type(raw, l.list, l.n, container) : NULL;
}

/* NULL: record the integer. */
static const struct lttng_ust_type_common *enum_type(const struct spi_map *map, const struct spi_map_field *f)
{
	const struct lttng_ust_type_integer *container = &tp_integers[0][!!f->is_signed][size_class(f->size)];
	const struct spi_map_enum *from;
	struct made *m;
	uint64_t hash;

	if (f->enum_index == SPI_MAP_NONE || f->enum_index >= map->head->enums.count)
		return NULL;
	from = SPI_MAP_AT(map, enums, struct spi_map_enum, f->enum_index);
	if (!from->label_count || from->label_count >= TP_LABELS_MAX)
		return NULL;
	hash = spi_hash_number((uintptr_t) from ^ (uintptr_t) container);
	for (m = spi_hash_find(&made, hash); m; m = spi_hash_again(&m->link))
		if (m->from == from && m->container == container)
			return m->type;
	m = tp_alloc(sizeof(*m));
	if (!m)
		return NULL;
	m->from = from;
	m->container = container;
	m->type = enum_build(map, from, container);
	spi_hash_add(&made, &m->link, hash);
	return m->type;
}

/* ---- */

static const struct lttng_ust_type_common *array_type(const struct spi_map_field *f)
{
	struct lttng_ust_type_array *type = tp_alloc(sizeof(*type));

	if (!type)
		return NULL;
	type->parent.type = lttng_ust_type_array;
	type->struct_size = sizeof(*type);
	type->elem_type = &integer_for(f)->parent;
	type->length = f->length;
	return &type->parent;
}

static const struct lttng_ust_type_common *as(struct tp_column *column, enum tp_column_kind kind, unsigned int size,
	const struct lttng_ust_type_common *type)
{
	column->kind = (uint8_t) kind;
	column->size = (uint8_t) size;
	column->count = 1;
	return type;
}

const struct lttng_ust_type_common *tp_type_make(
	const struct spi_map *map, const struct spi_map_field *f, struct tp_column *column)
{
	const struct lttng_ust_type_integer *integer = integer_for(f);
	const struct lttng_ust_type_common *type;

	switch (f->kind) {
	case SPI_KIND_POINTER:
		return as(column, TP_COLUMN_UNSIGNED, 8, &tp_integers[1][0][3].parent);
	case SPI_KIND_BOOL:
		return as(column, TP_COLUMN_UNSIGNED, 1, bool_type());
	case SPI_KIND_CHAR:
		return as(column, TP_COLUMN_CHAR, 1, &char_type.parent);
	case SPI_KIND_FLOAT:
		if (f->size == 4)
			return as(column, TP_COLUMN_FLOAT, 4, &float_type.parent);
		return as(column, TP_COLUMN_FLOAT, 8, &double_type.parent);
	case SPI_KIND_LONG_DOUBLE:
		return as(column, TP_COLUMN_FLOAT, 8, &double_type.parent);
	case SPI_KIND_STRING:
	case SPI_KIND_TEXT:
	case SPI_KIND_COUNTED:
		return as(column, TP_COLUMN_STRING, 1, &tp_string_type.parent);
	case SPI_KIND_INT_ARRAY:
		type = as(column, TP_COLUMN_ARRAY, integer->size / 8, array_type(f));
		column->count = (uint16_t) f->length;
		return type;
	case SPI_KIND_ENUM:
		type = enum_type(map, f);
		if (type)
			return as(
				column, f->is_signed ? TP_COLUMN_SIGNED : TP_COLUMN_UNSIGNED, integer->size / 8, type);
		break;
	}
	return as(column, f->is_signed ? TP_COLUMN_SIGNED : TP_COLUMN_UNSIGNED, integer->size / 8, &integer->parent);
}
