/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Prototypes from debug info: parameters, their places, the return value, and how it is printed. */
#include <stdio.h>
#include <stdlib.h>
#include "codemap/types/fortran.h"

#define DW_TAG_GNU_formal_parameter_pack 0x4108
#define PARAMETERS_MAX	128
/* DW_AT_calling_convention: not that of the platform; LLVM's for vectorcall, ms_abi, swiftcall and regcall. */
enum { DW_CC_nocall = 3, DW_CC_vectorcall = 0xc0, DW_CC_Win64 = 0xc1, DW_CC_Swift = 0xc8, DW_CC_X86RegCall = 0xcb };
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

/* A constructor's pointer to the table of its virtual bases: only one of its instances takes it. */
static int name_is_instance_own(const char *name)
{
	return name && !strcmp(name, "__vtt_parm");
}

/*
 * The entries of a function that was changed come in any order, or not at all: take the
 * parameters of the function it was made from, and from the entry itself only where they are.
 */
static void parameters_find_changed(struct parameter_list *to, const struct dw_die *die)
{
	struct parameter_list own = { 0 };
	struct dw_die origin, target;
	size_t i, k, kept = 0;

	if (!die_ref(die, DW_AT_abstract_origin, &origin)) {
		parameters_find(to, die);
		return;
	}
	parameters_find(to, &origin);
	parameters_collect(&own, die, 0);
	for (i = 0; i < to->list.count; i++) {
		for (k = 0; k < own.list.count; k++)
			if (die_ref(&own.list.at[k].die, DW_AT_abstract_origin, &target) &&
			    target.entry == to->list.at[i].die.entry)
				break;
		if (k < own.list.count)
			to->list.at[kept++] = own.list.at[k];
		else if (!name_is_instance_own(to->list.at[i].name))
			to->list.at[kept++] = to->list.at[i];
	}
	to->list.count = kept;
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

		if (unit_is_fortran(p->die.unit) ? p->is_hidden : die_attr_origin(&p->die, DW_AT_artificial, &value) && value.number)
			continue;
		if (shown++)
			text_add(&text, ", ");
		if (text.count > TEXT_MAX)
			break;
		spell_declaration(&text, &p->die, p->name);
		if (!p->passing.count && !p->passing.is_empty)
			text_add(&text, p->passing.otherwise == SPI_PLACE_OPTIMISED_OUT ?
				" = " SPI_MARK_OPTIMISED_OUT : " = " SPI_MARK_UNKNOWN);
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

/*
 * Is it called by Rust's own convention, which changes from release to release? Functions that have a name as C's
 * are called by C's.
 */
static int die_is_rust(const struct dw_die *die)
{
	struct dw_value value;

	return die->unit->language == DW_LANG_Rust && die_attr_origin(die, DW_AT_linkage_name, &value);
}

/* (), or another type without a byte: nothing is passed. */
static int type_is_empty(const struct type *type)
{
	uint64_t size;

	return type->has_die && !type->size && die_constant(&type->die, DW_AT_byte_size, &size);
}

/* May the compiler have changed what the function takes and returns? It cannot when other files may call it. */
static int is_changeable(const struct dw_die *die, const struct function *function)
{
	struct dw_value value;
	uint64_t convention;

	if (die_constant(die, DW_AT_calling_convention, &convention) && convention == DW_CC_nocall)
		return 1;
	if (!die_attr_origin(die, DW_AT_external, &value) || !value.number)
		return 1;
	return function->alias_count && !function->is_global;	/* link-time optimisation made it local */
}

static int has_other_abi(const struct dw_die *die)
{
	uint64_t convention;

	return die_constant(die, DW_AT_calling_convention, &convention) &&
	       (convention == DW_CC_vectorcall || convention == DW_CC_Win64 || convention == DW_CC_Swift ||
		convention == DW_CC_X86RegCall);
}

/* Only numbers and pointers come back in the psABI's place with other conventions, too. */
static void return_forget(const struct prototype *prototype, uint32_t first, struct tables *tables)
{
	uint32_t i;

	for (i = first; i < first + prototype->ret_count; i++)
		if (prototype->ret_count > 1 || tables->fields.at[i].place == SPI_PLACE_MEMORY ||
		    tables->fields.at[i].place == SPI_PLACE_X87) {
			tables->fields.at[i].place = SPI_PLACE_NONE;
			tables->fields.at[i].offset = 0;
		}
}

/* The hidden first word of a call that returns in memory, and what comes back. */
static void return_read(struct prototype *prototype, const struct dw_die *die, const struct code_bytes *code,
	struct abi_state *state, struct tables *tables)
{
	struct passing passing = { .count = 0 };
	struct field_maker maker = { tables, (uint32_t) tables->fields.count, 0, &passing, NULL, NULL };
	struct dw_value value;
	struct type type;

	type_of(die, &type);
	if (type.class == TYPE_VOID || (die->unit->language == DW_LANG_Rust && type_is_empty(&type)))
		return;
	prototype->flags |= SPI_FUNC_RETURNS_VALUE;
	if (type.class == TYPE_UNKNOWN && !type.size) {
		type.class = TYPE_INT;
		type.size = 8;
		state->is_lost = 1;
	}
	if (die_is_rust(die) ? rust_return(die, code, state, &type, &passing) : abi_return(state, &type, &passing)) {
		prototype->flags |= SPI_FUNC_SRET;
		state->gprs = 1;
	}
	if (passing.count && passing.piece[0].place == SPI_PLACE_X87)
		prototype->flags |= SPI_FUNC_X87_RETURN;
	fields_add(&maker, "ret", &type, die_attr(die, DW_AT_type, &value) ? die : NULL);
	prototype->ret_count = (uint16_t) (tables->fields.count - maker.first);
	prototype->is_result_vector = passing.piece[0].place == SPI_PLACE_XMM;
	prototype->is_result_doubtful = passing.count && (prototype->is_result_vector ||
		passing.piece[0].place == SPI_PLACE_GPR);
}

/*
 * LLVM changes functions in place, gcc makes clones. Both say of optimised functions
 * that debug info has all their calls; what is not optimised is as it was written.
 */
static int result_may_be_gone(const struct dw_die *die, const struct function *function)
{
	struct dw_value value;

	if (!die_attr_origin(die, DW_AT_call_all_calls, &value) && !die_attr_origin(die, DW_AT_GNU_all_call_sites, &value))
		return 0;
	return die->unit->clang || strstr(function->name, ".isra.");
}

/*
 * Places of parameters, in their order: of what travels by the psABI, then by debug info. Returns whether the
 * function has another calling convention.
 */
static int parameters_pass(struct parameter_list *params, const struct dw_die *die, struct abi_state *state,
			   const struct code_bytes *code, unsigned int what)
{
	const struct type word = { .class = TYPE_POINTER, .size = 8 };
	int is_rust = die_is_rust(die);
	uint64_t pc = code->pc;
	int is_other;
	size_t i;

	for (i = 0; i < params->list.count; i++) {
		struct parameter *p = &params->list.at[i];

		if (!p->name || !p->name[0])
			p->name = mem_format("arg%zu", i + 1);
		if (unit_is_fortran(die->unit) && !strcmp(p->name, "__result")) {	/* where the caller wants it */
			p->type = word;
			p->is_told = 1;
		}
		if (unit_is_fortran(die->unit) && !p->is_told) {
			int is_behind = parameter_is_behind(&p->die, pc);

			p->is_behind = is_behind > 0;
			/* What travels may be either; but gcc has a place for each reference, and none for parts of a complex value. */
			state->is_lost |= is_behind < 0 && p->type.class != TYPE_COMPLEX;
		}
		abi_parameter(state, p->is_behind ? &word : &p->type, p->is_behind ? &p->pointer : &p->passing);
		p->passing.is_empty |= is_rust && type_is_empty(&p->type);
		if (p->is_behind)
			passing_behind(&p->pointer, BEHIND_REACH, &p->passing);
	}
	is_other = parameters_place(die, pc, params->list.at, params->list.count, what);
	if (code->at)
		parameters_trace(die, code, params->list.at, params->list.count);
	for (i = 0; i < params->list.count && is_rust; i++)
		rust_parameter_check(&params->list.at[i]);
	if (unit_is_fortran(die->unit))
		fortran_hidden_find(params->list.at, params->list.count, pc);
	return is_other;
}

struct prototype *prototype_read(const struct dw_die *die, const struct functions *functions,
				 const struct function *function, struct tables *tables)
{
	struct prototype *prototype;
	struct parameter_list params = { 0 };
	struct abi_state state = { .image = functions->image, .function = function };
	struct tables *t = tables;
	uint64_t low, size;
	/* Without an address it is a declaration of a file's (prototypes/): the psABI alone says where its values are. */
	int is_declared = !die_entry_pc(die, &low, &size);
	int is_clone = !is_declared && name_is_clone(function->name);
	int may_differ = !is_declared && (is_clone || die_is_rust(die) || is_changeable(die, function));
	struct code_bytes code = { .pc = function->vaddr };
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
	if (die->unit->language == DW_LANG_Rust && functions->image)
		code.at = image_at(functions->image, code.pc, &code.size);
	if (function->size < code.size)
		code.size = function->size;
	/* The return value decides where the first parameter is, but its fields come behind theirs. */
	ret_first = (uint32_t) t->fields.count;
	return_read(prototype, die, &code, &state, tables);
	prototype->is_result_doubtful &= may_differ && result_may_be_gone(die, function);
	entry_first = (uint32_t) t->fields.count;
	if (may_differ)
		parameters_find_changed(&params, die);
	else
		parameters_find(&params, die);
	if (params.is_variadic)
		prototype->flags |= SPI_FUNC_VARIADIC;
	if (parameters_pass(&params, die, &state, &code,
		    (is_clone || die_is_rust(die) ? PLACE_OF_CLONE : 0u) | (may_differ ? PLACE_MAY_DIFFER : 0u) |
		    (has_other_abi(die) ? PLACE_OTHER_ABI : 0u)))
		return_forget(prototype, ret_first, t);
	for (i = 0; i < params.list.count; i++) {
		struct parameter *p = &params.list.at[i];
		struct field_maker maker = { tables, entry_first, (uint32_t) i, &p->passing,
					     p->is_behind ? &p->pointer : NULL, p->length.count ? &p->length : NULL };

		if (p->is_dropped)
			continue;
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
