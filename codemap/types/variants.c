/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Values with several variants, one of which exists at a time (Rust's enum, Option, Result). The
 * discriminant tells which, by the variants' names. The members of each variant are fields whose
 * names begin with the variant's; fields of the other variants mean nothing.
 */
#include "codemap/types/prototype.h"

#define DW_TAG_variant		0x19
#define DW_AT_discr		0x15
#define DW_AT_discr_value	0x16
#define VARIANTS_MAX		64	/* that have fields */

/* The member that DW_TAG_variant holds. */
static int variant_member(const struct dw_die *variant, struct dw_die *member)
{
	struct cursor c;
	int more;

	if (variant->abbrev->tag != DW_TAG_variant)
		return 0;
	for (more = die_child(variant, member, &c); more; more = die_sibling(member, &c))
		if (member->abbrev->tag == DW_TAG_member)
			return 1;
	return 0;
}

int type_variants(const struct type *type, int (*visit)(void *context, const struct variant *variant), void *context)
{
	struct dw_die part, child, member;
	struct cursor c;
	int more, rc = 0;

	if (!type->has_die || !type_variant_part(&type->die, &part))
		return 0;
	for (more = die_child(&part, &child, &c); more && !rc; more = die_sibling(&child, &c)) {
		struct variant variant = { .name = "" };

		if (!variant_member(&child, &member))
			continue;
		if (die_name(&member))
			variant.name = die_name(&member);
		variant.has_value = (uint8_t) die_constant(&child, DW_AT_discr_value, &variant.value);
		die_constant(&member, DW_AT_data_member_location, &variant.offset);
		type_of(&member, &variant.type);
		rc = visit(context, &variant);
	}
	return rc;
}

int type_discriminant(const struct type *type, struct type *discriminant, uint64_t *offset)
{
	struct dw_die part, member;

	*offset = 0;
	if (!type->has_die || !type_variant_part(&type->die, &part) || !die_ref(&part, DW_AT_discr, &member))
		return 0;
	die_constant(&member, DW_AT_data_member_location, offset);
	type_of(&member, discriminant);
	return discriminant->class == TYPE_INT && discriminant->size <= 8;
}

/* ---- fields ---- */

struct variants_part {
	struct field_maker *maker;
	const char *name;
	uint64_t offset;
	int depth;
	unsigned int count;
};

static int label_visit(void *context, const struct variant *variant)
{
	struct field_maker *maker = context;
	struct spi_map_label *label = vec_push(&maker->tables->labels);

	label->value = (int64_t) variant->value;
	label->name = strings_add(&maker->tables->strings, name_event(variant->name));
	label->is_rest = !variant->has_value;
	return 0;
}

static int variant_visit(void *context, const struct variant *variant)
{
	struct variants_part *part = context;

	if (part->count++ == VARIANTS_MAX)
		return 1;
	if (variant->type.class == TYPE_STRUCT)
		fields_add_part(part->maker, name_joined(part->name, variant->name), &variant->type,
			part->offset + variant->offset, part->depth + 1);
	return 0;
}

void variants_add(struct field_maker *maker, const char *name, const char *type_name, const struct type *type,
		  uint64_t offset, int depth)
{
	struct variants_part part = { maker, name, offset, depth, 0 };
	struct tables *t = maker->tables;
	struct spi_map_field *field;
	struct type discriminant;
	uint64_t at;

	if (type_discriminant(type, &discriminant, &at)) {
		field = field_add(maker, name, type_name, SPI_KIND_ENUM, (uint8_t) discriminant.size, offset + at);
		if (!field)
			return;
		at = t->labels.count;
		type_variants(type, label_visit, maker);
		field->enum_index = enum_keep(t, die_name(&type->die), (uint32_t) at);
	}
	type_variants(type, variant_visit, &part);
}
