/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Types of debug info: what they are for the psABI and for a trace (types.c), and how C spells them (spelling.c). */
#ifndef CODEMAP_TYPES_H
#define CODEMAP_TYPES_H

#include "codemap/dwarf/dwarf.h"

enum type_class {
	TYPE_VOID,
	TYPE_INT,
	TYPE_BOOL,
	TYPE_CHAR,	  /* plain char */
	TYPE_FLOAT,	  /* 4 or 8 bytes */
	TYPE_LONG_DOUBLE, /* x87, 16 bytes */
	TYPE_SSE,	  /* travels in a vector register, no type that a trace knows: __float128, _Float16, decimal */
	TYPE_COMPLEX,
	TYPE_POINTER, /* references, nullptr_t too */
	TYPE_STRING,  /* pointer to plain char */
	TYPE_ENUM,
	TYPE_STRUCT,
	TYPE_UNION, /* members share their bytes */
	TYPE_VARIANTS, /* Rust's enum with data: one variant at a time */
	TYPE_ARRAY,
	TYPE_VECTOR,	     /* __m128 and its like */
	TYPE_METHOD_POINTER, /* C++ pointer to a member function: two words */
	TYPE_TEXT,	     /* Fortran's character; size 0: only running code knows its length */
	TYPE_UNKNOWN,	     /* incomplete here, or debug info that makes no sense */
};

struct type {
	enum type_class class;
	uint8_t is_signed, has_die;
	uint64_t size;		/* bytes; 0 when unknown */
	struct dw_die die;	/* stripped of typedefs and qualifiers */
};

/* A member of a struct or union, bases included. */
struct member {
	const char *name;	/* "" when anonymous */
	struct type type;
	uint64_t offset;	/* bytes; of a bit field: of bit 0 of the struct, in bits */
	uint64_t bit_size;	/* 0: not a bit field */
	uint8_t is_base, is_virtual_base;
};

/* A variant of TYPE_VARIANTS. */
struct variant {
	const char *name;
	struct type type;	/* a struct of the variant's members */
	uint64_t offset, value;
	uint8_t has_value;	/* 0: it exists where the discriminant has no other variant's value */
};

/* The type that attribute DW_AT_type of `die` (or of what it stands for) names; TYPE_VOID when there is none. */
void type_of(const struct dw_die *die, struct type *type);
/* Call `visit` for each data member; stops when it returns non-zero, and returns that. */
int type_members(const struct type *type, int (*visit)(void *context, const struct member *member), void *context);
/* TYPE_VARIANTS (variants.c): the same for each variant, and what tells them apart; 0: it has one variant only. */
int type_variants(const struct type *type, int (*visit)(void *context, const struct variant *variant), void *context);
int type_discriminant(const struct type *type, struct type *discriminant, uint64_t *offset);
int type_variant_part(const struct dw_die *type, struct dw_die *part);
/* TYPE_ARRAY, TYPE_VECTOR: the element's type; returns how many there are, all dimensions together. */
uint64_t type_elements(const struct type *type, struct type *element);
uint64_t type_align(const struct type *type, int depth);
/* C++: passed by a pointer to a temporary, because copying or destroying it is code. */
int type_is_nontrivial(const struct type *type, int depth);
/* Do names have scopes in this unit's language? */
int type_is_cxx(const struct dw_unit *unit);
#define DW_LANG_Rust	0x1c
int unit_is_fortran(const struct dw_unit *unit);
/* The lower bound of a dimension (DW_TAG_subrange_type): 0 when only running code knows it. */
int dimension_lower(const struct dw_die *dimension, int64_t *bound);

/* Add "type name" in C to text; name may be "". `die` is what has DW_AT_type. */
void spell_declaration(struct text *text, const struct dw_die *die, const char *name);
/* The declaration of a function: "int open(const char *pathname, int flags, ...)". */
void spell_function(struct text *text, const struct dw_die *die);
/* The type whose entry this is. */
void spell_type(struct text *text, const struct dw_die *type);
/* The name of a type's entry, qualified in C++. */
void spell_qualified(struct text *text, const struct dw_die *die);

#endif /* CODEMAP_TYPES_H */
