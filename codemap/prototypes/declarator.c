/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Declarators: what stands around a name and makes pointers, arrays and functions of the type before it. They are
 * collected from the name outward, and applied to the type in the opposite order.
 */
#include "codemap/prototypes/internal.h"

#define DW_AT_prototyped	0x27
#define STEPS_MAX		(2 * DEPTH_MAX)

enum step_kind { STEP_POINTER, STEP_ARRAY, STEP_FUNCTION };

struct step {
	enum step_kind kind;
	int is_const, is_volatile;	/* STEP_POINTER */
	uint64_t count;			/* STEP_ARRAY; 0: [] */
	struct parameter_pool *parameters;
	struct place at;
};

struct steps {
	struct step list[STEPS_MAX];	/* the one next to the name first */
	unsigned int count;
};

static struct step *step_add(struct reader *r, struct steps *steps, enum step_kind kind, struct place at)
{
	static struct step nowhere;
	struct step *step = &steps->list[steps->count];

	if (steps->count == STEPS_MAX) {
		reader_fail(r, at, "more than %d pointers, arrays and functions of each other", STEPS_MAX);
		return &nowhere;
	}
	steps->count++;
	memset(step, 0, sizeof(*step));
	step->kind = kind;
	step->at = at;
	return step;
}

/* What an array or a function is as a parameter. */
static struct ctype parameter_type(struct reader *r, const struct declared *d)
{
	if (d->type.shape == SHAPE_ARRAY)
		return type_pointer(r, (struct ctype) { .entry = d->type.element });
	if (d->type.shape == SHAPE_FUNCTION)
		return type_pointer(r, d->type);
	if (d->type.shape != SHAPE_VALUE)
		reader_fail(r, d->at, d->type.shape == SHAPE_VOID ? "a parameter cannot be void" :
			"its members are not declared: only a pointer to it can be passed");
	return d->type;
}

/* Behind the '('. */
static struct parameter_pool *parameters_read(struct reader *r)
{
	struct parameter_pool *pool = mem_alloc(sizeof(*pool));

	if (token_take(r, ')') || !reader_enter(r))
		return pool;
	do {
		struct place at = r->token.at;
		struct specifiers s;
		struct declared d;

		if (pool->count && token_take(r, '.')) {
			pool->is_variadic = 1;
			break;
		}
		token_take_word(r, "register");
		specifiers_read(r, &s);
		if (s.is_typedef)
			reader_fail(r, at, "typedef among parameters");
		if (!pool->count && s.type.shape == SHAPE_VOID && !s.is_const && token_is(r, ')'))
			break;
		declarator_read(r, s.type, &d);
		attributes_skip(r);
		if (pool->count == PARAMETERS_MAX)
			reader_fail(r, at, "more than %d parameters", PARAMETERS_MAX);
		if (r->error)
			break;
		pool->list[pool->count].name = d.name;
		pool->list[pool->count++].type = parameter_type(r, &d).entry;
	} while (token_take(r, ','));
	token_want(r, ')', "',' or ')'");
	r->depth--;
	return pool;
}

/* Behind the '['. */
static uint64_t array_count_read(struct reader *r)
{
	struct place at;
	int64_t count;

	while (token_take_word(r, "restrict") || token_take_word(r, "__restrict") || token_take_word(r, "const") ||
	       token_take_word(r, "static"))
		;
	if (token_take(r, ']'))
		return 0;
	at = r->token.at;
	count = constant_read(r);
	if (count < 1 || count > VALUE_MAX)
		reader_fail(r, at, "not a number of elements from 1 to %d", VALUE_MAX);
	token_want(r, ']', "']'");
	return (uint64_t) count;
}

/* Is this '(' one around a declarator, not one before parameters? */
static int bracket_is_group(struct reader *r)
{
	struct reader ahead = *r;

	token_next(&ahead);
	return token_is(&ahead, '*') || token_is(&ahead, '(') || token_is(&ahead, '[') ||
	       (ahead.token.kind == TOKEN_NAME && !type_begins(&ahead));
}

static void steps_read(struct reader *r, struct steps *steps, struct declared *d)
{
	struct step pointers[DEPTH_MAX], *step;
	unsigned int count = 0;

	for (attributes_skip(r); token_is(r, '*');) {
		if (count == DEPTH_MAX) {
			reader_fail(r, r->token.at, "more than %d stars", DEPTH_MAX);
			return;
		}
		step = &pointers[count++];
		*step = (struct step) { .kind = STEP_POINTER, .at = r->token.at };
		token_next(r);
		for (;; token_next(r)) {
			if (token_is_word(r, "const") || token_is_word(r, "__const"))
				step->is_const = 1;
			else if (token_is_word(r, "volatile"))
				step->is_volatile = 1;
			else if (!token_is_word(r, "restrict") && !token_is_word(r, "__restrict") && !token_is_word(r, "__restrict__"))
				break;
		}
		attributes_skip(r);
	}
	if (token_is(r, '(') && bracket_is_group(r)) {
		if (!reader_enter(r))
			return;
		token_next(r);
		steps_read(r, steps, d);
		token_want(r, ')', "')'");
		r->depth--;
	} else if (r->token.kind == TOKEN_NAME && !word_is_known(r)) {
		d->name = token_text(r);
		d->at = r->token.at;
		token_next(r);
	}
	while (token_is(r, '(') || token_is(r, '[')) {
		step = step_add(r, steps, token_is(r, '(') ? STEP_FUNCTION : STEP_ARRAY, r->token.at);
		token_next(r);
		if (step->kind == STEP_FUNCTION)
			step->parameters = parameters_read(r);
		else
			step->count = array_count_read(r);
	}
	while (count && !r->error) {
		struct step *to = step_add(r, steps, STEP_POINTER, pointers[--count].at);

		to->is_const = pointers[count].is_const;
		to->is_volatile = pointers[count].is_volatile;
	}
}

void parameters_write(struct reader *r, const struct parameter_pool *parameters)
{
	unsigned int i;

	for (i = 0; i < parameters->count; i++)
		UNIT_ENTRY(&r->unit, DW_TAG_formal_parameter, 0, ATTR_TEXT(DW_AT_name, parameters->list[i].name),
			ATTR_ENTRY(DW_AT_type, parameters->list[i].type));
	if (parameters->is_variadic)
		UNIT_ENTRY(&r->unit, DW_TAG_unspecified_parameters, 0, ATTR_FLAG(DW_AT_declaration, 0));
	unit_children_end(&r->unit);
}

static struct ctype array_make(struct reader *r, struct ctype of, const struct step *step)
{
	struct ctype type = { .shape = SHAPE_ARRAY, .size = of.size * step->count, .align = of.align, .element = of.entry };

	if (of.shape == SHAPE_ARRAY) {		/* as a parameter it is a pointer to a row */
		reader_fail(r, step->at, "arrays of arrays are not known here: declare a pointer");
		return type;
	}
	if (of.shape != SHAPE_VALUE && of.shape != SHAPE_INCOMPLETE) {
		reader_fail(r, step->at, "an array of what has no size");
		return type;
	}
	if (of.shape == SHAPE_INCOMPLETE)	/* as a parameter, in which it is a pointer, it may be that */
		type.size = 0;
	if (type.size > VALUE_MAX)
		reader_fail(r, step->at, "an array of more than %d bytes", VALUE_MAX);
	type.entry = UNIT_ENTRY(&r->unit, DW_TAG_array_type, 1, ATTR_ENTRY(DW_AT_type, of.entry));
	UNIT_ENTRY(&r->unit, DW_TAG_subrange_type, 0, { .name = DW_AT_count, .form = DW_FORM_udata, .number = step->count,
							 .is_absent = !step->count });
	unit_children_end(&r->unit);
	return type;
}

static struct ctype function_make(struct reader *r, struct ctype result, const struct step *step)
{
	struct ctype type = { .shape = SHAPE_FUNCTION };

	type.entry = UNIT_ENTRY(&r->unit, DW_TAG_subroutine_type, 1, ATTR_FLAG(DW_AT_prototyped, 1),
		ATTR_ENTRY(DW_AT_type, result.entry));
	parameters_write(r, step->parameters);
	return type;
}

static struct ctype step_apply(struct reader *r, struct ctype type, const struct step *step)
{
	if (step->kind == STEP_ARRAY)
		return array_make(r, type, step);
	if (step->kind == STEP_POINTER) {
		type = type_pointer(r, type);
		if (step->is_const)
			type = type_qualified(r, type, DW_TAG_const_type);
		return step->is_volatile ? type_qualified(r, type, DW_TAG_volatile_type) : type;
	}
	if (type.shape == SHAPE_ARRAY || type.shape == SHAPE_FUNCTION || type.shape == SHAPE_INCOMPLETE)
		reader_fail(r, step->at, "a function cannot return %s",
			type.shape == SHAPE_ARRAY ? "an array" : type.shape == SHAPE_FUNCTION ? "a function" : "what has no size");
	return function_make(r, type, step);
}

void declarator_read(struct reader *r, struct ctype base, struct declared *declared)
{
	struct steps steps;	/* large, and set as far as `count` says */
	unsigned int i;

	steps.count = 0;
	memset(declared, 0, sizeof(*declared));
	declared->at = r->token.at;
	declared->type = base;
	if (!reader_enter(r))
		return;
	steps_read(r, &steps, declared);
	r->depth--;
	declared->result = base;
	for (i = steps.count; i-- > 0 && !r->error;) {
		declared->result = declared->type;
		if (!i && steps.list[0].kind == STEP_FUNCTION) {
			declared->is_function = 1;
			declared->parameters = steps.list[0].parameters;
		}
		declared->type = step_apply(r, declared->type, &steps.list[i]);
	}
}
