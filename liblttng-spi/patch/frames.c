/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Unwinding from near code. Nothing is ever called from there, so a stub or a
 * moved instruction is met only where a signal interrupted it; but profilers
 * unwind from just there, and so does asynchronous cancellation.
 *
 * One FDE describes a whole chunk of code, whatever stubs are made in it later:
 * its rules are expressions that look the PC up in a table beside the code, two
 * bytes for each byte of code (see SPI_FRAME_FP). So the rules do not depend on
 * the code:
 *
 *	CFA	stack pointer + 8 * words
 *	pc	at CFA - 8
 *	fp	unchanged, or at CFA - 8 * slot
 *
 * Other callee-saved registers are taken for unchanged: callers use none of them
 * to find their own frame.
 *
 * Trampolines are not described: they are one instruction each, and there may be
 * thousands of pages of them. libgcc walks through all registered ranges for each
 * frame of the program. What is registered together must be one range, as libgcc
 * takes the space between for registered too.
 *
 * libgcc's unwinder is told by __register_frame_info(), which takes its memory
 * from the caller. A program without libgcc_s gets it loaded: backtrace() and
 * pthread_cancel() would load it anyway, and then too late to be told.
 */
#include <dlfcn.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/patch/internal.h"

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

/* What the table beside the code says of the PC. Between the two stands the table's place less twice the code's. */
#define LOOKUP_FROM	OP_BREG(SPI_DWARF_PC), 0, OP_LIT(1), OP_SHL, OP_CONST8U
#define LOOKUP_END	OP_PLUS, OP_DEREF_SIZE, 2
#define LOOKUP_SIZE	16

/* A CIE, which holds all rules, and an FDE, which is no more than its range. What is left at 0 is DW_CFA_nop. */
struct __attribute__((packed)) description {
	uint32_t length, id;
	uint8_t head[9];
	uint8_t cfa[7];
	int64_t cfa_table;
	uint8_t cfa_end[12];
	uint8_t pc[2];
	uint8_t fp[8];
	int64_t fp_table;
	uint8_t fp_end[20];
	uint8_t pad[6];
	uint32_t fde_length, fde_back;
	uint64_t code, size;
	uint8_t fde_pad[8];
	uint32_t end;
};
_Static_assert(!(offsetof(struct description, fde_length) % 8) && !(offsetof(struct description, end) % 8), "libgcc");

static void description_fill(struct description *d, uint64_t code, uint64_t size, int64_t table)
{
	*d = (struct description) {
		.length = offsetof(struct description, fde_length) - 4,
		/* version 1, "zR", code factor 1, data factor -8, return address column, absolute addresses */
		.head = { 1, 'z', 'R', 0, 1, 0x78, SPI_DWARF_PC, 1, 0 },
		.cfa = { CFA_EXPRESSION, LOOKUP_SIZE + 9, LOOKUP_FROM },
		.cfa_table = table,
		.cfa_end = { LOOKUP_END, OP_CONST2U, SPI_FRAME_WORDS & 0xff, SPI_FRAME_WORDS >> 8, OP_AND, OP_LIT(3), OP_SHL,
			OP_BREG(SPI_DWARF_SP), 0, OP_PLUS },
		.pc = { CFA_OFFSET | SPI_DWARF_PC, 1 },
		/* on the stack at first: the CFA; left on it: the frame pointer */
		.fp = { CFA_VAL_EXPRESSION, SPI_DWARF_FP, LOOKUP_SIZE + 17, LOOKUP_FROM },
		.fp_table = table,
		.fp_end = { LOOKUP_END, OP_LIT(12), OP_SHR, OP_DUP, OP_BRA, 7, 0,
			OP_DROP, OP_DROP, OP_BREG(SPI_DWARF_FP), 0, OP_SKIP, 4, 0, OP_LIT(3), OP_SHL, OP_MINUS, OP_DEREF },
		.fde_length = offsetof(struct description, end) - offsetof(struct description, fde_back),
		.fde_back = offsetof(struct description, fde_back),
		.code = code,
		.size = size,
	};
}

/* ---- libgcc ---- */

typedef void (*register_fn)(const void *begin, void *object);

static struct {
	register_fn tell;
	int looked;
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

static void register_range(uint64_t code, uint64_t size, int64_t table)
{
	struct description *d = spi_alloc(sizeof(*d));
	void *object = d ? object_take() : NULL;

	if (!object)
		return;
	description_fill(d, code, size, table);
	libgcc.tell(d, object);
}

/*
 * All that is described; and of this, by `waiting`, what libgcc has not been told of, one after the other: its lock may
 * not be taken under the patch lock. Nothing is ever freed or changed.
 */
static struct range {
	struct range *next, *waiting;
	uint64_t code, size, frames;
} *ranges, *waiting;

void spi_frames_register(uint64_t code, uint64_t size, uint64_t frames)
{
	struct range *r = spi_alloc(sizeof(*r));

	if (!r)
		return;
	r->code = code;
	r->size = size;
	r->frames = frames;
	r->waiting = waiting;
	waiting = r;
	r->next = ranges;
	__atomic_store_n(&ranges, r, __ATOMIC_RELEASE);
}

int spi_frames_of(uint64_t pc, unsigned int *words, unsigned int *fp_words)
{
	const struct range *r = __atomic_load_n(&ranges, __ATOMIC_ACQUIRE);
	uint16_t frame;

	while (r && pc - r->code >= r->size)
		r = r->next;
	if (!r || spi_memory_copy(&frame, r->frames + 2 * (pc - r->code), sizeof(frame)) < 0)
		return -1;
	*words = frame & SPI_FRAME_WORDS;
	*fp_words = frame / (SPI_FRAME_WORDS + 1);
	return 0;
}

void spi_frames_tell(void)
{
	uint64_t before = spi_patch_lock();
	struct range *w = waiting;

	waiting = NULL;
	spi_patch_unlock(before);
	if (w)
		spi_frames_find_unwinder();
	for (; w && libgcc.tell; w = w->waiting)
		register_range(w->code, w->size, (int64_t) (w->frames - 2 * w->code));
}
