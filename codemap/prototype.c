/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Prototypes from debug info: parameters, their places, the return value, and how it is printed. */
#include <stdio.h>
#include <stdlib.h>
#include "codemap/prototype.h"

#define DW_TAG_GNU_formal_parameter_pack 0x4108
#define PARAMETERS_MAX	128
#define TEXT_MAX	4000	/* of the printed parameters, bytes */

struct parameter_list {
	struct vec_of(struct parameter) list;
	int is_variadic;
};

static void parameters_collect(struct parameter_list *to, const struct dw_die *die, int depth)
{
	struct dw_die child;
	struct cursor c;
	int more;

	for (more = die_child(die, &child, &c); more; more = die_sibling(&child, &c)) {
		struct dw_value value;
		struct parameter *p;

		if (child.abbrev->tag == DW_TAG_unspecified_parameters)
			to->is_variadic = 1;
		if (child.abbrev->tag == DW_TAG_GNU_formal_parameter_pack && !depth)
			parameters_collect(to, &child, 1);
		if (child.abbrev->tag != DW_TAG_formal_parameter || to->list.count == PARAMETERS_MAX)
			continue;
		p = vec_push(&to->list);
		memset(p, 0, sizeof(*p));
		p->die = child;
		p->name = die_attr_origin(&child, DW_AT_name, &value) ? value_string(&value) : NULL;
		type_of(&child, &p->type);
		if (p->name && !strcmp(p->name, "__in_chrg"))
			to->list.count--;	/* constructors' debug info has it, their code does not */
	}
}

/* The parameters: those of this instance, or of what it is an instance of. */
static void parameters_find(struct parameter_list *to, const struct dw_die *die)
{
	struct dw_die at = *die, next;
	int depth;

	for (depth = 0; depth < 4; depth++) {
		parameters_collect(to, &at, 0);
		if (to->list.count || to->is_variadic)
			return;
		if (!die_ref(&at, DW_AT_abstract_origin, &next) && !die_ref(&at, DW_AT_specification, &next))
			return;
		at = next;
	}
}

/*
 * A clone's own entries come in any order, or not at all: take the parameters of
 * the function it was made from, and from the clone only where they are.
 */
static void parameters_find_clone(struct parameter_list *to, const struct dw_die *die)
{
	struct parameter_list own = { 0 };
	struct dw_die origin, target;
	size_t i, k;

	if (!die_ref(die, DW_AT_abstract_origin, &origin)) {
		parameters_find(to, die);
		return;
	}
	parameters_find(to, &origin);
	parameters_collect(&own, die, 0);
	for (i = 0; i < to->list.count; i++)
		for (k = 0; k < own.list.count; k++)
			if (die_ref(&own.list.at[k].die, DW_AT_abstract_origin, &target) &&
			    target.entry == to->list.at[i].die.entry)
				to->list.at[i].die = own.list.at[k].die;
	free(own.list.at);
}

static const char *parameters_spell(const struct parameter_list *from)
{
	struct text text = { 0 };
	struct dw_value value;
	const char *result;
	size_t i, shown = 0;

	for (i = 0; i < from->list.count; i++) {
		const struct parameter *p = &from->list.at[i];

		if (die_attr_origin(&p->die, DW_AT_artificial, &value) && value.number)
			continue;
		if (shown++)
			text_add(&text, ", ");
		if (text.count > TEXT_MAX)
			break;
		spell_declaration(&text, &p->die, p->name);
	}
	if (from->is_variadic || i < from->list.count)
		text_add(&text, shown && i == from->list.count ? ", ..." : "...");
	result = mem_string(text_end(&text), text.count);
	free(text.at);
	return result;
}

static uint32_t source_find(const struct dw_die *die, struct tables *tables)
{
	struct dw_value file, line;
	uint64_t number, row;
	const char *name;

	if (!die_attr_origin(die, DW_AT_decl_file, &file) || !value_constant(&file, &number) ||
	    !die_attr_origin(die, DW_AT_decl_line, &line) || !value_constant(&line, &row))
		return 0;
	name = unit_file_name(file.unit, number);
	if (!name || strlen(name) > 4000)
		return 0;
	return strings_add(&tables->strings, mem_format("%s:%llu", name, (unsigned long long) row));
}

static int name_is_clone(const char *name)
{
	return strstr(name, ".isra.") || strstr(name, ".constprop.") || strstr(name, ".part.");
}

/* The hidden first word of a call that returns in memory, and what comes back. */
static void return_read(
	struct prototype *prototype, const struct dw_die *die, struct abi_state *state, struct tables *tables)
{
	struct passing passing = { .count = 0 };
	struct field_maker maker = { tables, (uint32_t) tables->fields.count, 0, &passing };
	struct dw_value value;
	struct type type;

	type_of(die, &type);
	if (type.class == TYPE_VOID)
		return;
	prototype->flags |= SPI_FUNC_RETURNS_VALUE;
	if (type.class == TYPE_UNKNOWN && !type.size) {
		type.class = TYPE_INT;
		type.size = 8;
		state->is_lost = 1;
	}
	if (abi_return(&type, &passing)) {
		prototype->flags |= SPI_FUNC_SRET;
		state->gprs = 1;
	}
	if (passing.count && passing.piece[0].place == SPI_PLACE_X87)
		prototype->flags |= SPI_FUNC_X87_RETURN;
	fields_add(&maker, "ret", &type, die_attr(die, DW_AT_type, &value) ? die : NULL);
	prototype->ret_count = (uint16_t) (tables->fields.count - maker.first);
}

struct prototype *prototype_read(const struct dw_die *die, const struct function *function, struct tables *tables)
{
	struct prototype *prototype;
	struct parameter_list params = { 0 };
	struct abi_state state = { 0 };
	struct tables *t = tables;
	int is_clone = name_is_clone(function->name);
	struct dw_value value;
	uint32_t ret_first, entry_first;
	size_t i;

	/* An assembler says where a function is, and not what it takes. */
	if (die->unit->language == DW_LANG_Mips_Assembler) {
		prototype = prototype_unknown(tables);
		prototype->source = source_find(die, tables);
		return prototype;
	}
	prototype = mem_alloc(sizeof(*prototype));
	prototype->flags = SPI_FUNC_HAS_DWARF;
	if (die_attr_origin(die, DW_AT_noreturn, &value) && value.number)
		prototype->flags |= SPI_FUNC_NORETURN;
	/* The return value decides where the first parameter is, but its fields come behind theirs. */
	ret_first = (uint32_t) t->fields.count;
	return_read(prototype, die, &state, tables);
	entry_first = (uint32_t) t->fields.count;
	if (is_clone)
		parameters_find_clone(&params, die);
	else
		parameters_find(&params, die);
	if (params.is_variadic)
		prototype->flags |= SPI_FUNC_VARIADIC;
	for (i = 0; i < params.list.count; i++) {
		struct parameter *p = &params.list.at[i];

		if (!p->name || !p->name[0])
			p->name = mem_format("arg%zu", i + 1);
		abi_parameter(&state, &p->type, &p->passing);
	}
	parameters_place(die, function->vaddr, params.list.at, params.list.count, is_clone);
	for (i = 0; i < params.list.count; i++) {
		struct parameter *p = &params.list.at[i];
		struct field_maker maker = { tables, entry_first, (uint32_t) i, &p->passing };

		fields_add(&maker, p->name, &p->type, &p->die);
	}
	prototype->field_count = (uint16_t) (t->fields.count - entry_first);
	for (i = ret_first; i < entry_first; i++) {
		struct spi_map_field field = t->fields.at[i];

		*vec_push(&t->fields) = field;
	}
	if (entry_first > ret_first)
		memmove(&t->fields.at[ret_first], &t->fields.at[entry_first],
			(t->fields.count - entry_first) * sizeof(*t->fields.at));
	t->fields.count -= entry_first - ret_first;
	prototype->field_first = ret_first;
	prototype->parameters = parameters_spell(&params);
	prototype->source = source_find(die, tables);
	free(params.list.at);
	return prototype;
}

struct prototype *prototype_unknown(struct tables *tables)
{
	struct prototype *prototype = mem_alloc(sizeof(*prototype));
	unsigned int i;

	prototype->field_first = (uint32_t) tables->fields.count;
	prototype->field_count = 6;
	prototype->ret_count = 1;
	prototype->flags = SPI_FUNC_RETURNS_VALUE;
	for (i = 0; i < 7; i++) {
		struct spi_map_field *field = vec_push(&tables->fields);
		char name[8] = "ret";

		if (i < 6)
			snprintf(name, sizeof(name), "arg%u", i + 1);
		memset(field, 0, sizeof(*field));
		field->name = strings_add(&tables->strings, name);
		field->type_name = strings_add(&tables->strings, "unsigned long");
		field->kind = SPI_KIND_INT;
		field->place = SPI_PLACE_GPR;
		field->reg = i < 6 ? abi_gpr[i] : 0;
		field->size = 8;
		field->base = 16;
		field->param = i < 6 ? i : 0;
		field->enum_index = SPI_MAP_NONE;
	}
	return prototype;
}
