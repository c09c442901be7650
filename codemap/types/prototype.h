/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Prototypes: what debug info says about a function, as a map records it. */
#ifndef CODEMAP_TYPES_PROTOTYPE_H
#define CODEMAP_TYPES_PROTOTYPE_H

#include "codemap/elf/functions.h"
#include "codemap/map/tables.h"
#include "codemap/types/abi.h"

/* Behind the parameters in a printed prototype. */
#define MARK_RESULT_OPTIMISED_OUT	" = " SPI_MARK_OPTIMISED_OUT
#define MARK_RESULT_UNKNOWN	" = " SPI_MARK_UNKNOWN

struct prototype {
	const char *parameters;	/* "int a, const char *b" */
	uint32_t field_first;
	uint16_t field_count, ret_count;
	uint32_t flags;		/* enum spi_map_func_flags */
	uint32_t source;	/* string */
	/* unused-result.c: the compiler may have done away with the result; what its callers do with it. */
	uint8_t is_result_doubtful, is_result_vector, is_result_unwritten, result_fate;
	uint32_t callers;
};

/*
 * prototype_read() - make the prototype of the function that `die` describes (a
 * subprogram with an address, or one that a file of prototypes declares). `function` is the one at that address. Fields go
 * to `tables`. Allocated, never NULL.
 */
struct prototype *prototype_read(const struct dw_die *die, const struct functions *functions,
				 const struct function *function, struct tables *tables);
/* The same for a function without debug info: six words in hex, and a word back. */
struct prototype *prototype_unknown(struct tables *tables);

/* fields.c: add the fields of a value of this type; `name` is its parameter's. */
struct field_maker {
	struct tables *tables;
	uint32_t first;		/* of this function's entry or exit fields */
	uint32_t param;
	const struct passing *passing;
	/* Fortran's arguments; NULL: no such thing. */
	const struct passing *pointer;	/* what travels: the value is behind it */
	const struct passing *length;	/* of text, bytes */
};
/* NULL: the event has as many as it may. The name is made unique. */
struct spi_map_field *field_add(struct field_maker *maker, const char *name, const char *type_name, uint8_t kind,
				uint8_t size, uint64_t offset);
/* Where bytes [offset, offset + size) of the value are; PLACE_NONE when they are nowhere, or in two places. */
void field_place(const struct field_maker *maker, struct spi_map_field *field, uint64_t offset, uint64_t size);
void fields_add(struct field_maker *maker, const char *name, const struct type *type, const struct dw_die *typed);

/* The same for a part of a value, `offset` bytes from its start; depth: of parts in parts. */
void fields_add_part(struct field_maker *maker, const char *name, const struct type *type, uint64_t offset, int depth);
/* One field; NULL: there are too many. */
struct spi_map_field *field_add(struct field_maker *maker, const char *name, const char *type_name, uint8_t kind,
				uint8_t size, uint64_t offset);
/* "name_more". */
char *name_joined(const char *name, const char *more);
/* An enumeration of the labels from label_first on: the one that is there already, or a new one. Returns its index. */
uint32_t enum_keep(struct tables *t, const char *name, uint32_t label_first);
/* variants.c: the fields of a TYPE_VARIANTS. */
void variants_add(struct field_maker *maker, const char *name, const char *type_name, const struct type *type,
		  uint64_t offset, int depth);

/*
 * location.c: correct where the psABI says a parameter is by what debug info says about the function's first byte.
 * Returns whether it has another calling convention: as in `what`, or found out from where its parameters are.
 */
enum place_flags {
	PLACE_OF_CLONE		= 1u << 0,
	PLACE_MAY_DIFFER	= 1u << 1,	/* it cannot be called from another file: compilers may have changed it */
	PLACE_OTHER_ABI		= 1u << 2,	/* what debug info says nothing of is not known */
};
struct parameter {
	struct dw_die die;
	struct type type;
	struct passing passing;
	const char *name;
	int is_told;		/* debug info said where it is */
	int is_behind;		/* Fortran: what travels is a pointer to it, and `passing` is where that leads */
	struct passing pointer, length;	/* as in struct field_maker; nowhere: none */
	int is_hidden;		/* Fortran: passed beside those of the source */
	int is_dropped;		/* it belongs to another parameter, and has no field of its own */
};
/* How far behind a pointer the parts of a value are looked for, bytes. */
#define BEHIND_REACH	(UINT64_C(1) << 20)
/* Does debug info say that the parameter's address is what travels? -1: it says nothing. */
int parameter_is_behind(const struct dw_die *parameter, uint64_t pc);
/* Where a value that its location says is at `pc`; 0: debug info does not say it. */
int location_place(const struct dw_value *location, uint64_t pc, const struct type *type, struct passing *passing);
int parameters_place(const struct dw_die *function, uint64_t pc, struct parameter *list, size_t count,
	unsigned int what);
/* A function's code; at: NULL when it is not there. */
struct code_bytes {
	const uint8_t *at;
	uint64_t size, pc;
};

/* rust-return.c: as abi_return(), for a function that is called by Rust's own convention. */
int rust_return(const struct dw_die *function, const struct code_bytes *code, struct abi_state *state,
		const struct type *type, struct passing *passing);
/* Forget places that cannot be: see there. */
void rust_parameter_check(struct parameter *parameter);

/* location-traced.c: the same for those that debug info knows a few instructions later. */
void parameters_trace(const struct dw_die *function, const struct code_bytes *code, struct parameter *list,
		      size_t count);
/* Does the function return, in rax, the word that it was given in rdi: the address of its result? */
int code_returns_argument(const struct code_bytes *code);

#endif /* CODEMAP_TYPES_PROTOTYPE_H */
