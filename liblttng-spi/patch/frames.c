/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Unwinding from near code. Nothing is ever called from there, so a stub or a
 * moved instruction is met only where a signal interrupted it; but profilers
 * unwind from just there, and so does asynchronous cancellation.
 *
 * One FDE describes a whole chunk of code, whatever stubs are made in it later:
 * its rules are expressions that look the PC up in a table beside the code, two
 * bytes for each byte of code (see SPI_FRAME_FP). At a trampoline the same two
 * bytes stand before the jump. So the rules do not depend on the code:
 *
 *	CFA	stack pointer + 8 * words
 *	pc	at CFA - 8
 *	fp	unchanged, or at CFA - 8 * slot
 *
 * Other callee-saved registers are taken for unchanged: callers use none of them
 * to find their own frame.
 *
 * What is registered together must be one range: libgcc takes the space between
 * for registered too, and would not look elsewhere for what is there. And it walks
 * through all registered ranges for each frame of the program, so no more than
 * RANGES_MAX of trampolines are told of; they are one instruction each.
 *
 * libgcc's unwinder is told by __register_frame_info(), which takes its memory
 * from the caller. A program without libgcc_s gets it loaded: backtrace() and
 * pthread_cancel() would load it anyway, and then too late to be told.
 */
#include <dlfcn.h>
#include "liblttng-spi/patch/internal.h"

#define RANGES_MAX	128u
#define OBJECT_SIZE	128u	/* libgcc's struct object: 48 bytes up to version 12, 56 since */
#define OBJECTS_MAX	512u

#define OP_LIT(n)	(0x30 + (n))
#define OP_BREG(n)	(0x70 + (n))
enum {
	OP_DEREF = 0x06, OP_CONST2U = 0x0a, OP_CONST8U = 0x0e, OP_DUP = 0x12, OP_DROP = 0x13, OP_AND = 0x1a,
	OP_MINUS = 0x1c, OP_PLUS = 0x22, OP_SHL = 0x24, OP_SHR = 0x25, OP_BRA = 0x28, OP_SKIP = 0x2f,
	OP_DEREF_SIZE = 0x94,
	CFA_EXPRESSION = 0x0f, CFA_VAL_EXPRESSION = 0x16, CFA_OFFSET = 0x80,
};

struct bytes {
	uint8_t *at;
};

static void put(struct bytes *b, const void *data, uint32_t n)
{
	spi_bytes_copy(b->at, data, n);
	b->at += n;
}

static void put_u8(struct bytes *b, unsigned int value)
{
	*b->at++ = (uint8_t) value;
}

/*
 * A description of frames: where it stands for a given PC. In a chunk, in a table
 * of two bytes for each byte of code; at a trampoline, in the two bytes before it.
 */
struct lookup {
	int64_t table_minus_code_twice;	/* 0: before the PC */
};

static void put_lookup(struct bytes *b, const struct lookup *lookup)
{
	if (lookup->table_minus_code_twice) {
		put(b, (const uint8_t[]) { OP_BREG(SPI_DWARF_PC), 0, OP_LIT(1), OP_SHL, OP_CONST8U }, 5);
		put(b, &lookup->table_minus_code_twice, 8);
		put_u8(b, OP_PLUS);
	} else {
		put(b, (const uint8_t[]) { OP_BREG(SPI_DWARF_PC), 0x80 - SPI_TRAMPOLINE_HEAD }, 2);
	}
	put(b, (const uint8_t[]) { OP_DEREF_SIZE, 2 }, 2);
}

static void put_cfa(struct bytes *b, const struct lookup *lookup)
{
	uint8_t *size;

	put_u8(b, CFA_EXPRESSION);
	size = b->at++;
	put_lookup(b, lookup);
	put(b, (const uint8_t[]) { OP_CONST2U, SPI_FRAME_WORDS & 0xff, SPI_FRAME_WORDS >> 8, OP_AND, OP_LIT(3), OP_SHL,
		OP_BREG(SPI_DWARF_SP), 0, OP_PLUS }, 9);
	*size = (uint8_t) (b->at - size - 1);
}

/* On the stack at first: the CFA. Left on it: the frame pointer. */
static void put_fp(struct bytes *b, const struct lookup *lookup)
{
	uint8_t *size;

	put(b, (const uint8_t[]) { CFA_VAL_EXPRESSION, SPI_DWARF_FP }, 2);
	size = b->at++;
	put_lookup(b, lookup);
	put(b, (const uint8_t[]) { OP_LIT(12), OP_SHR }, 2);
	put(b, (const uint8_t[]) { OP_DUP, OP_BRA, 7, 0 }, 4);
	put(b, (const uint8_t[]) { OP_DROP, OP_DROP, OP_BREG(SPI_DWARF_FP), 0, OP_SKIP, 4, 0 }, 7);
	put(b, (const uint8_t[]) { OP_LIT(3), OP_SHL, OP_MINUS, OP_DEREF }, 4);
	*size = (uint8_t) (b->at - size - 1);
}

/* Close a CIE or FDE that began at `start`: pad, and fill in its length. */
static void put_end(struct bytes *b, uint8_t *start)
{
	uint32_t length;

	while ((b->at - start) % 8)
		put_u8(b, 0);			/* DW_CFA_nop */
	length = (uint32_t) (b->at - start - 4);
	spi_bytes_copy(start, &length, 4);
}

/* The CIE holds all rules, so that an FDE is no more than its range. */
static void put_cie(struct bytes *b, const struct lookup *lookup)
{
	uint8_t *start = b->at;
	uint64_t zero = 0;

	put(b, &zero, 8);			/* length, and 0: a CIE */
	/* version 1, "zR", code factor 1, data factor -8, return address column, absolute addresses */
	put(b, (const uint8_t[]) { 1, 'z', 'R', 0, 1, 0x78, SPI_DWARF_PC, 1, 0 }, 9);
	put_cfa(b, lookup);
	put(b, (const uint8_t[]) { CFA_OFFSET | SPI_DWARF_PC, 1 }, 2);
	put_fp(b, lookup);
	put_end(b, start);
}

#define CIE_SIZE	128u	/* at most */
#define FDE_SIZE	32u

static void put_fde(struct bytes *b, const uint8_t *cie, uint64_t code, uint64_t size)
{
	uint8_t *start = b->at;
	uint32_t back;

	put(b, &size, 4);			/* the length, later */
	back = (uint32_t) (b->at - cie);
	put(b, &back, 4);
	put(b, &code, 8);
	put(b, &size, 8);
	put_u8(b, 0);
	put_end(b, start);
}

/* ---- libgcc ---- */

typedef void (*register_fn)(const void *begin, void *object);

static struct {
	register_fn tell;
	int looked;
	uint32_t ranges;
} libgcc;

void spi_frames_find_unwinder(void)
{
	void *library;

	if (libgcc.looked)
		return;
	libgcc.looked = 1;
	library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!library)
		return;
	libgcc.tell = (register_fn) dlsym(library, "__register_frame_info");
}

/*
 * A struct object of libgcc's. It keeps there what it allocates for what it was told: LeakSanitizer finds that in
 * variables of a library's, and not in memory that was mapped.
 */
static void *object_take(void)
{
	static uint64_t objects[OBJECTS_MAX][OBJECT_SIZE / 8];
	static uint32_t taken;
	uint32_t i = __atomic_load_n(&taken, __ATOMIC_RELAXED) < OBJECTS_MAX ?
		__atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED) : OBJECTS_MAX;

	return i < OBJECTS_MAX ? objects[i] : spi_alloc(OBJECT_SIZE);
}

static void register_range(uint64_t code, uint64_t size, const struct lookup *lookup)
{
	struct bytes b = { spi_alloc(CIE_SIZE + FDE_SIZE + 8) };
	uint8_t *cie = b.at;
	void *object;

	object = cie ? object_take() : NULL;
	if (!object)
		return;
	put_cie(&b, lookup);
	put_fde(&b, cie, code, size);
	libgcc.tell(cie, object);	/* what follows is zero: the end */
}

/* What libgcc has not been told of, one after the other: its lock may not be taken under the patch lock. */
static struct waiting {
	struct waiting *next;
	uint64_t code, size, frames;
} *waiting;

void spi_frames_register(uint64_t code, uint64_t size, uint64_t frames)
{
	struct waiting *w = spi_alloc(sizeof(*w));

	if (!w)
		return;
	w->code = code;
	w->size = size;
	w->frames = frames;
	w->next = waiting;
	waiting = w;
}

void spi_frames_tell(void)
{
	uint64_t before = spi_patch_lock();
	struct waiting *w = waiting;

	waiting = NULL;
	spi_patch_unlock(before);
	if (w)
		spi_frames_find_unwinder();
	for (; w && libgcc.tell; w = w->next) {
		struct lookup lookup = { (int64_t) (w->frames - 2 * w->code) };

		register_range(w->code, w->size, &lookup);
	}
}

void spi_frames_register_pages(const struct spi_range *ranges, uint32_t n)
{
	struct lookup lookup = { 0 };

	spi_frames_find_unwinder();
	for (uint32_t i = 0; libgcc.tell && i < n && libgcc.ranges < RANGES_MAX; i++, libgcc.ranges++)
		register_range(ranges[i].address, ranges[i].size, &lookup);
}
