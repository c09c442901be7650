/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * lttng/spi-code.h - the part of lttng/spi.h that is about code: objects, functions, blocks, instructions, and code
 * that a program makes at run time. lttng/spi.h includes this file, and says what [any], [payload] and [configure]
 * mean.
 */
#ifndef LTTNG_SPI_CODE_H
#define LTTNG_SPI_CODE_H

#include <stddef.h>
#include <stdint.h>
#include "spi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- code: which objects and functions there are ---- */

/*
 * spi_object_next() - all loaded objects: NULL begins, the executable is first, NULL ends. [any]
 * Objects are looked for by spi_agent_create() and spi_agent_go(), and as libraries are loaded later.
 * Regions that a parser has given (struct spi_parser) come last.
 */
struct spi_object *spi_object_next(const struct spi_object *object);

/* spi_object_at() - the loaded object that has this address. NULL: none does. [any] */
struct spi_object *spi_object_at(uint64_t address);

/*
 * spi_object_parse() - have the functions of an object known now.
 * After spi_agent_go(), the functions are known of each object that a call tree of the agent's goes into, and
 * spi_object_functions() and the functions below find these. Whoever asks earlier, or asks for another object, calls
 * this one. It may start a process that analyses the object's file, and waits for that. In a thread that may wait,
 * never in a payload.
 * 0; -EINVAL: there is no such object; -EBUSY: the agent is busy; -ENOTSUP: the file cannot be analysed.
 */
int spi_object_parse(struct spi_object *object);

/*
 * spi_object_functions() - each function of an object, by ascending address, until `each` returns another value than 0.
 * [any] as far as `each` may be called there.
 * The result is what `each` has returned last, or 0; -ENODATA: the object's functions are not known, see
 * spi_object_parse().
 */
int spi_object_functions(struct spi_object *object, int (*each)(struct spi_function *function, void *data), void *data);

/*
 * spi_function_find() - the function with this linkage name, in this object, or in all whose functions are known
 * (object NULL). [any]
 * NULL: there is none. A name that the object exports beside the function's own is found, too.
 */
struct spi_function *spi_function_find(struct spi_object *object, const char *linkage_name);

/*
 * spi_functions_find() - the functions with this qualified name, as spi_function_name() has it, likewise. [any]
 * The first `room` of them are put into `functions`. Returns how many there are.
 */
long spi_functions_find(struct spi_object *object, const char *name, struct spi_function **functions, size_t room);

/*
 * spi_function_source() - where the function is in the source: "dir/file.c:12". [any]
 * "": not known. It is known in objects with debug info, of functions that are instrumented by name, and of all
 * functions with SPI_AGENT_DETAIL.
 */
const char *spi_function_source(const struct spi_function *function);

/* ---- code: an instrumented place, and what stands there ---- [any] */

/* spi_point_callee() - the function that each call of the place leads to. NULL: an indirect call, or not known. */
struct spi_function *spi_point_callee(const struct spi_point *point);

/*
 * spi_point_instruction() - the place's call or jump instruction: its address, and its size in bytes.
 * -ENODATA: the point is a function's entry.
 */
int spi_point_instruction(const struct spi_point *point, uint64_t *address, size_t *size);

/*
 * spi_point_snippet() - the code that runs in the instruction's stead, and leads to the payloads: its address and size.
 * -ENODATA: nothing of it is in place.
 */
int spi_point_snippet(const struct spi_point *point, uint64_t *address, size_t *size);

/*
 * spi_call_register() - a general register as it was at the call (or, in exit payloads, as the callee has left it), by
 * its DWARF number (psABI, figure 3.36: 0 rax, 1 rdx, 2 rcx, 4 rsi, 5 rdi, 6 rbp, 7 rsp, 8 to 11 r8 to r11, 16 the
 * instruction behind the call). r11 at a call through a register or memory is the callee. [payload]
 * -ENODATA: it is not saved, or the call did not return.
 */
int spi_call_register(const struct spi_call *call, unsigned int number, uint64_t *value);

/* spi_call_agent() - whose payload runs: spi_agent_configuration() has the payloads that are in force. [payload] */
struct spi_agent *spi_call_agent(const struct spi_call *call);

/* ---- code in detail: of objects that an agent with SPI_AGENT_DETAIL instruments ---- */

/* A basic block: control arrives at its first instruction only, and leaves behind its last one. */
struct spi_block {
	uint64_t start, end;		/* addresses; `end` is behind the last byte */
	struct spi_function *function;	/* that has it */
	struct spi_object *object;
	uint64_t call;			/* address of its last instruction, where that is a call; 0: it is none */
	uint64_t reserved[3];
};

enum spi_edge_kind {
	SPI_EDGE_FALL_THROUGH = 1,	/* the next block follows */
	SPI_EDGE_JUMP,
	SPI_EDGE_TAKEN,			/* a conditional jump, to where it jumps, */
	SPI_EDGE_NOT_TAKEN,		/* and behind it */
	SPI_EDGE_INDIRECT,		/* a jump through a register or memory: a switch, a tail call */
	SPI_EDGE_CALL,
	SPI_EDGE_CALL_RETURNS,		/* to where the call returns */
	SPI_EDGE_RETURN,
};

/* A way out of a block. */
struct spi_edge {
	uint64_t from;			/* the block's start */
	uint64_t to;			/* address where control arrives; 0: not known */
	uint32_t kind;			/* enum spi_edge_kind */
	uint32_t reserved[3];
};

/* spi_block_at(), spi_point_block() - the block that has an address, or a place's instruction. [any] -ENODATA: none. */
int spi_block_at(uint64_t address, struct spi_block *block);
int spi_point_block(const struct spi_point *point, struct spi_block *block);

/*
 * spi_function_blocks() - each block of a function, by ascending address, until `each` returns another value than 0.
 * spi_block_edges() - each way out of a block, likewise. [any] as far as `each` may be called there.
 * The result is what `each` has returned last, or 0; -ENODATA: blocks are not known there.
 */
int spi_function_blocks(const struct spi_function *function, int (*each)(const struct spi_block *block, void *data),
	void *data);
int spi_block_edges(const struct spi_block *block, int (*each)(const struct spi_edge *edge, void *data), void *data);

/* spi_block_call() - the address of the block's call instruction. 0: it has none. [any] */
uint64_t spi_block_call(const struct spi_block *block);

/*
 * spi_point_instruction_text() - the place's instruction as the file has it: "call 0x1040 <puts@plt>". Addresses are
 * those in the file. "": not known. [any]
 */
const char *spi_point_instruction_text(const struct spi_point *point);

/*
 * spi_code_text() - the instructions of `size` bytes (4096 at most) of memory, a line each: "7f5a20001000: push rbp".
 * Needs no detail. Starts a process that disassembles the bytes, and waits for it: in a thread that may wait, never in
 * a payload. Puts up to `room` bytes into `text`, NUL included.
 * Returns how long the text is, without NUL; -EINVAL, -EFAULT: there is no such memory; -ENOTSUP: it cannot be done.
 */
long spi_code_text(uint64_t address, size_t size, char *text, size_t room);

/* ---- a parser of the user's own: code that no file has ---- */

struct spi_parser_function {
	uint64_t address, size;		/* bytes */
	const char *name;
};

/*
 * A call instruction: `call` of an address, or through a register or memory that is not on the stack. Or `mov $address,
 * %reg; call *%reg`, given as one, where nothing jumps to its second half; a call through a register alone is too
 * short to be redirected in most places. Others are declined, and named.
 */
struct spi_parser_call {
	uint64_t address;
	uint64_t size;			/* bytes */
};

/* Code that was made at run time. All of [low, high) is mapped, and can be run. */
struct spi_parser_region {
	size_t size;			/* sizeof(struct spi_parser_region) */
	uint64_t low, high;
	const char *name;		/* of the object that it becomes; NULL: one is made up */
	const struct spi_parser_function *functions;	/* in any order, one an address */
	size_t function_count;
	const struct spi_parser_call *calls;		/* in any order */
	size_t call_count;
};

struct spi_parser {
	size_t size;			/* sizeof(struct spi_parser) */
	/*
	 * A call of a tree leads to `address`, and no object has that: fill *region, which has the address, and is zero
	 * but for its size. Called once an address, in the thread that makes the call, before the callee runs, like an
	 * entry payload, and never in two threads at the same time. The arrays and names are copied, and stay the
	 * parser's, which may use them again in the next call.
	 * 0: *region is filled. A negative errno: the parser does not know the code, which stays as it is.
	 */
	int (*find)(struct spi_parser_region *region, uint64_t address, void *data);
	void *data;
};

/* spi_agent_set_parser() - ask this parser for code that no object has; NULL: none. [configure] */
int spi_agent_set_parser(struct spi_agent *agent, const struct spi_parser *parser);

/*
 * spi_agent_add_region() - the same for code that is known in advance. In payloads and in a thread that may wait.
 * From then on the region is an object like others of payloads' call trees: calls into it have names, and where a
 * payload propels such a call, the calls that the region gives are instrumented. *object, where `object` is not NULL,
 * becomes the region's.
 * -EINVAL: it is none; -EEXIST: another object has a part of it; -EFAULT: there is no code; -ENOSPC: there are 1024
 * regions, or were 8192; -EAGAIN: another thread forks.
 */
int spi_agent_add_region(struct spi_agent *agent, const struct spi_parser_region *region, struct spi_object **object);

/*
 * spi_region_forget() - the region's code goes, or is about to change: its instructions are put back, as far as they
 * are what the agent has written, and nothing is written there any more. Likewise.
 * -EINVAL: the object is no region, or was forgotten; -EAGAIN: another thread forks.
 */
int spi_region_forget(struct spi_object *region);

#ifdef __cplusplus
}
#endif

#endif /* LTTNG_SPI_CODE_H */
