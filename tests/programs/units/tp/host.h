/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A stand-in for the agent's core, so that the event module can be tested alone:
 * no code is patched; a test makes up code maps and frames and calls the points'
 * functions itself, as a thunk would.
 */
#ifndef SPI_TEST_TP_HOST_H
#define SPI_TEST_TP_HOST_H

#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* DWARF numbers of registers. */
enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15 };

struct host_label {
	const char *name;
	int64_t value;
};

/* struct spi_map_field with texts in place of offsets. */
struct host_field {
	const char *name;
	uint8_t kind, place, reg, size, is_signed, base, bit_offset, bit_size;
	int32_t offset;
	uint32_t length;
	const char *enum_name;
	const struct host_label *labels;
	uint32_t label_count;
};

struct host_func {
	const char *name;
	const struct host_field *fields, *results;
	uint32_t field_count, result_count;
};

/* A caller's registers, with room for stack arguments. */
struct host_frame {
	struct spi_frame f;
	uint64_t stack[64];
};

extern const struct spi_payload_ops *host_ops;
extern struct spi_object host_object;
extern uint32_t host_near_fails;	/* near_alloc gives nothing, that many times */
extern int host_fast_strings;		/* string_copy() reads directly, as fast as the core's; no wild pointers then */
extern uint64_t host_missed;		/* calls that the payload said are not recorded */
extern char host_notes[4096];		/* what note() was told, one line each */

void host_start(void);
/* Points for n functions, in one code map; flags as spi_point_flags. Not bound yet. */
void host_points(const struct host_func *funcs, unsigned int n, uint32_t flags, struct spi_point **points);
/* host_points() and bind; exits with a message when one is refused. */
void host_bind(const struct host_func *funcs, unsigned int n, uint32_t flags, struct spi_point **points);

/* The frame of a call `depth` calls deep on this thread's made-up stack; deeper ones lie lower. */
struct host_frame *host_frame(unsigned int depth);
/* Vector registers that go with host_enter() and host_leave(): 16 of 16 bytes. */
extern __thread uint8_t host_vectors[16][16];

/* As a stub and thunk do it: skip when no gate is open. The slot, or NULL. */
struct spi_slot *host_enter(struct spi_point *point, struct host_frame *frame);
/* As the exit thunk does it; returned registers in frame->f.rax and rdx. */
void host_leave(struct spi_slot *slot, struct host_frame *frame);
/* As an unwinder does it. */
void host_left(struct spi_slot *slot, enum spi_left how);
/* Counters of all threads, added up. */
struct spi_thread_count host_count(void);
/* End of a thread as the core sees it. */
void host_thread_end(void);

#endif /* SPI_TEST_TP_HOST_H */
