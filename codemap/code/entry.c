/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Function entries: the first instructions of a function, and whether anything jumps between them.
 * The patcher needs to know that, and cannot see it in these instructions alone. Assembly in libc
 * jumps from one function behind another's first instruction; switch tables do so from data. A
 * jump target that is missed crashes the program, and one too many costs a slower point: where in
 * doubt, there is a target.
 */
#include <stdlib.h>
#include <string.h>
#include "codemap/base/libraries.h"
#include "codemap/code/entry.h"
#include "codemap/code/x86.h"

#define WHOLE_TEXT_MAX	(UINT64_C(64) << 20)	/* bytes of code decoded as a whole */
#define WINDOW_BYTES	16u	/* the entry is described until this many bytes are covered */
#define TARGET_BYTES	64u
#define TAKES_BYTES	96u	/* in which a function may look at its return address */
#define TABLES_MAX	64u	/* switch tables looked at in one function */
#define TABLE_ENTRIES	4096u

struct body {
	struct code *code;
	size_t index;
	const struct function *function;
	uint64_t size;
	uint64_t tables[TABLES_MAX];
	unsigned int table_count;
	int has_indirect;
};

static void target_add(struct code *code, uint64_t target)
{
	const struct function *f = functions_around(code->functions, target);
	uint64_t offset;

	if (!f)
		return;
	offset = target - f->vaddr;
	if (offset && offset < TARGET_BYTES)
		code->targets[f - code->functions->list.at] |= UINT64_C(1) << offset;
}

#define VECTORS_LOOKED_AT	65536u	/* bytes of a function */

/* AVX's encoding has general instructions, too: BMI's. They do not tell that AVX may be used. */
static int is_general(const struct x86_decoded *insn)
{
	return (insn->map == 2 && insn->opcode >= 0xf2 && insn->opcode <= 0xf7) || (insn->map == 3 && insn->opcode == 0xf0);
}

uint32_t function_vector_bytes(const struct image *image, const struct function *function)
{
	uint64_t at = 0, left = 0;
	const uint8_t *p = image_is_code(image, function->vaddr) ? image_at(image, function->vaddr, &left) : NULL;
	uint64_t size = function->size < VECTORS_LOOKED_AT ? function->size : VECTORS_LOOKED_AT;
	uint32_t bytes = 16;

	while (p && at < size && at < left && bytes < 64) {
		struct x86_decoded insn;

		if (!x86_decode(p + at, left - at, function->vaddr + at, &insn)) {
			at++;
			continue;
		}
		at += insn.size;
		if (insn.flags & X86_WIDE_512)
			bytes = 64;
		else if ((insn.vector == 0xc4 || insn.vector == 0xc5) && !is_general(&insn))
			bytes = 32;
	}
	return bytes;
}

/* How many bytes the function has: what its symbol says, or up to the next one. */
static uint64_t function_extent(const struct code *code, size_t index)
{
	const struct function *f = &code->functions->list.at[index];
	uint64_t left = 0, size = f->size;

	if (!image_is_code(code->image, f->vaddr) || !image_at(code->image, f->vaddr, &left))
		return 0;
	if (!size)
		size = index + 1 < code->functions->list.count ? f[1].vaddr - f->vaddr : 4096;
	return size < left ? size : left;
}

/* Can a switch of this function lead there? Into itself, or into a piece of it that lies elsewhere. */
static int body_reaches(const struct body *body, uint64_t target)
{
	const struct function *f;

	if (target >= body->function->vaddr && target - body->function->vaddr < body->size)
		return 1;
	f = functions_around(body->code->functions, target);
	return f && f->reason == SPI_REASON_PART && target - f->vaddr < f->size;
}

/*
 * Entries of switch tables that lead into the function's first bytes: 4-byte
 * distances from the table, or addresses. A table ends where its entries make no
 * sense, or where the next begins; what is no table at all ends at once.
 */
static void body_tables(struct body *body)
{
	const struct function *f = body->function;
	unsigned int i, k, n;

	for (i = 0; i < body->table_count && body->has_indirect; i++) {
		unsigned int size = (body->tables[i] & 1) ? 8 : 4;
		uint64_t at = body->tables[i] >> 1, end = UINT64_MAX, left = 0, target;
		const uint8_t *p = image_at(body->code->image, at, &left);

		for (k = 0; k < body->table_count; k++)
			if (body->tables[k] >> 1 > at && body->tables[k] >> 1 < end)
				end = body->tables[k] >> 1;
		for (n = 0; p && n < TABLE_ENTRIES && left >= size && at + (uint64_t) n * size < end; n++) {
			int32_t distance;

			memcpy(&distance, p, 4);
			target = at + (uint64_t) (int64_t) distance;
			if (size == 8)
				memcpy(&target, p, 8);
			if (!body_reaches(body, target))
				break;
			if (target >= f->vaddr && target - f->vaddr < TARGET_BYTES)
				target_add(body->code, target);
			p += size;
			left -= size;
		}
	}
}

static void body_table_add(struct body *body, uint64_t address, int absolute)
{
	if (body->table_count < TABLES_MAX)
		body->tables[body->table_count++] = address << 1 | (uint64_t) absolute;
}

/* Decode one function. Bytes that are no instruction are stepped over, one at a time. */
static void body_scan(struct code *code, size_t index)
{
	const struct function *f = &code->functions->list.at[index];
	struct body body = { .code = code, .index = index, .function = f };
	uint32_t seen = 0, wide = X86_WIDE_256 | X86_WIDE_512;
	uint64_t at = 0, left;
	const uint8_t *p;

	body.size = function_extent(code, index);
	p = body.size ? image_at(code->image, f->vaddr, &left) : NULL;
	if (!p)
		return;
	while (at < body.size) {
		struct x86_decoded insn;

		if (!x86_decode(p + at, body.size - at, f->vaddr + at, &insn)) {
			at++;
			continue;
		}
		at += insn.size;
		seen |= insn.flags;
		if (insn.flags & X86_IS_JUMP) {
			if (insn.target == f->vaddr)
				code->loops[index] = 1;
			else if (insn.target - f->vaddr >= body.size || insn.target - f->vaddr < TARGET_BYTES)
				target_add(code, insn.target);
		}
		if (insn.flags & X86_TABLE_JUMP)
			body_table_add(&body, insn.target, 1);
		if (insn.flags & X86_LEA_RIP)
			body_table_add(&body, insn.target, 0);
		if (insn.flags & X86_INDIRECT_JUMP)
			body.has_indirect = 1;
	}
	body_tables(&body);
	/* Wide registers can be live across a call here only where there are calls. */
	if ((seen & wide) && (seen & X86_IS_CALL))
		code->flags |= (seen & X86_WIDE_512) ? SPI_MAP_USES_YMM | SPI_MAP_USES_ZMM : SPI_MAP_USES_YMM;
	/* Functions of the vector ABI take them as parameters: _ZGVdN4v_sin. */
	if (!strncmp(f->name, "_ZGV", 4) && strchr("cdeCDE", f->name[4]) && f->name[4])
		code->flags |= (f->name[4] == 'e' || f->name[4] == 'E') ? SPI_MAP_USES_YMM | SPI_MAP_USES_ZMM
									: SPI_MAP_USES_YMM;
}

/*
 * Code that was not decoded: take every 4-byte displacement behind a jump opcode
 * for a jump, aligned to an instruction or not. Only those into wanted entries count.
 */
static void raw_scan(struct code *code, uint64_t vaddr, uint64_t end)
{
	uint64_t i, left, size;
	const uint8_t *p = image_is_code(code->image, vaddr) ? image_at(code->image, vaddr, &left) : NULL;

	if (!p || vaddr >= end)
		return;
	size = end - vaddr < left ? end - vaddr : left;

	for (i = 0; i + 6 <= size; i++) {
		const struct function *f;
		uint64_t target;
		int32_t distance;
		unsigned int skip = 1;

		if (p[i] == 0x0f && (p[i + 1] & 0xf0) == 0x80)
			skip = 2;
		else if (p[i] != 0xe9)
			continue;
		memcpy(&distance, p + i + skip, 4);
		target = vaddr + i + skip + 4 + (uint64_t) (int64_t) distance;
		f = functions_around(code->functions, target);
		if (f && f->wanted && target - f->vaddr < TARGET_BYTES)
			target_add(code, target);
	}
}

void code_scan(struct code *code, const struct image *image, struct functions *functions)
{
	uint64_t text = 0, covered = 0;
	int is_whole;
	uint32_t s;
	size_t i;

	memset(code, 0, sizeof(*code));
	code->image = image;
	code->functions = functions;
	code->targets = mem_alloc(functions->list.count * sizeof(*code->targets) + 1);
	code->loops = mem_alloc(functions->list.count + 1);
	if (libraries.cs_open(CS_ARCH_X86, CS_MODE_64, (csh *) &code->capstone) != CS_ERR_OK)
		fail("the disassembler cannot be used: check libcapstone");
	for (i = 0; i < functions->list.count; i++)
		text += function_extent(code, i);
	is_whole = text <= WHOLE_TEXT_MAX;
	if (!is_whole)
		code->flags = SPI_MAP_USES_YMM | SPI_MAP_USES_ZMM;
	for (i = 0; i < functions->list.count; i++) {
		const struct function *f = &functions->list.at[i];

		if (!is_whole && !f->wanted)
			continue;
		body_scan(code, i);
		if (is_whole && covered && f->vaddr > covered)
			raw_scan(code, covered, f->vaddr);
		if (f->vaddr + function_extent(code, i) > covered)
			covered = f->vaddr + function_extent(code, i);
	}
	for (s = 0; s < image->segment_count && !is_whole; s++)
		if (image->segments[s].p_type == PT_LOAD && (image->segments[s].p_flags & PF_X))
			raw_scan(code, image->segments[s].p_vaddr,
				image->segments[s].p_vaddr + image->segments[s].p_filesz);
}

/* Do both decoders agree on this instruction? Newer vector instructions are unknown to capstone: then it is not asked.
 */
static int capstone_agrees(
	const struct code *code, const uint8_t *p, uint64_t left, uint64_t vaddr, const struct x86_decoded *insn)
{
	cs_insn *other = NULL;
	size_t n = libraries.cs_disasm(code->capstone, p, left < 15 ? left : 15, vaddr, 1, &other);
	int agrees = n ? other->size == insn->size : (insn->flags & X86_VECTOR) != 0;

	if (n)
		libraries.cs_free(other, n);
	return agrees;
}

/* What an instruction at an entry does with the return address on top of the stack. */
enum entry_effect { ENTRY_LEAVES_IT, ENTRY_TAKES_IT, ENTRY_MOVES_STACK };

/*
 * A function that reads its own return address before it has done anything else may
 * return by a copy of it, from another place on the stack (libffi's ffi_call_unix64
 * does, higher up than its caller called it), or act on who calls it: neither bears
 * to be called through a return slot.
 */
static enum entry_effect entry_effect(const uint8_t *p, uint32_t size)
{
	int wide = (p[0] & 0xf8) == 0x48;

	if ((p[0] & 0xf0) == 0x40) {
		p++;
		size--;
	}
	if (size == 1 && (p[0] & 0xf8) == 0x58)				/* pop %reg */
		return ENTRY_TAKES_IT;
	if (size == 1 && (p[0] & 0xf8) == 0x50)				/* push %reg */
		return ENTRY_MOVES_STACK;
	if (wide && size == 3 && p[0] == 0x8b && (p[1] & 0xc7) == 0x04 && p[2] == 0x24)	/* mov (%rsp),%reg */
		return ENTRY_TAKES_IT;
	if (size == 3 && p[0] == 0xff && p[1] == 0x34 && p[2] == 0x24)	/* push (%rsp) */
		return ENTRY_TAKES_IT;
	/* sub and add to %rsp, and whatever makes it anew */
	if ((p[0] == 0x83 || p[0] == 0x81) && size >= 3 && (p[1] & 0xc7) == 0xc4)
		return ENTRY_MOVES_STACK;
	if ((p[0] == 0x8d || p[0] == 0x8b) && size >= 2 && (p[1] & 0x38) == 0x20)
		return ENTRY_MOVES_STACK;
	if (p[0] == 0x89 && size >= 2 && (p[1] & 0xc7) == 0xc4)
		return ENTRY_MOVES_STACK;
	return ENTRY_LEAVES_IT;
}

/*
 * Before it has moved the stack. A setjmp() of somebody's own may save six registers first, Free Pascal's
 * does; but behind a branch that is not at the beginning, a return address is mostly there to tell who called:
 * libc's _dl_mcount_wrapper_check(), which is called often.
 */
static int takes_return_address(const uint8_t *p, uint64_t size, uint64_t vaddr)
{
	enum entry_effect effect = ENTRY_LEAVES_IT;
	struct x86_decoded insn;

	for (uint64_t at = 0; at < size && effect == ENTRY_LEAVES_IT; at += insn.size) {
		if (!x86_decode(p + at, size - at, vaddr + at, &insn) || insn.kind == SPI_INSN_END || insn.kind == SPI_INSN_JMP ||
		    insn.kind == SPI_INSN_UNMOVABLE || (insn.kind == SPI_INSN_CALL && insn.target == vaddr + at + insn.size))
			break;
		effect = entry_effect(p + at, insn.size);
		if (insn.kind == SPI_INSN_JCC)
			size = size < WINDOW_BYTES ? size : WINDOW_BYTES;
	}
	return effect == ENTRY_TAKES_IT;
}

enum spi_map_reason code_entry(struct code *code, const struct function *function, struct spi_map_func *record,
			       struct tables *tables)
{
	size_t index = (size_t) (function - code->functions->list.at);
	uint64_t left, extent = function_extent(code, index), at = 0, targets = code->targets[index];
	const uint8_t *p = extent ? image_at(code->image, function->vaddr, &left) : NULL;

	if (!p)
		return SPI_REASON_NO_CODE;
	record->entry_size = (uint8_t) (left < SPI_MAP_ENTRY_BYTES ? left : SPI_MAP_ENTRY_BYTES);
	memcpy(record->entry, p, record->entry_size);
	record->insn_first = (uint32_t) tables->insns.count;
	if (code->loops[index])
		record->flags |= SPI_FUNC_LOOPS_TO_ENTRY;
	if (index + 1 < code->functions->list.count && function[1].vaddr - function->vaddr < 5)
		record->flags |= SPI_FUNC_WINDOW_SHARED;
	while (at < WINDOW_BYTES && at < extent && record->insn_count < SPI_MAP_ENTRY_INSNS) {
		struct spi_map_insn *out;
		struct x86_decoded insn;

		if (!x86_decode(p + at, record->entry_size - at, function->vaddr + at, &insn) ||
		    !capstone_agrees(code, p + at, left - at, function->vaddr + at, &insn))
			break;
		out = vec_push(&tables->insns);
		memset(out, 0, sizeof(*out));
		out->offset = (uint8_t) at;
		out->size = insn.size;
		out->kind = insn.kind;
		out->fix_offset = insn.fix_offset;
		out->cond = insn.cond;
		out->is_target = at && (targets >> at & 1);
		out->target = insn.kind == SPI_INSN_JCC || insn.kind == SPI_INSN_JMP || insn.kind == SPI_INSN_CALL
				      ? insn.target
				      : 0;
		record->insn_count++;
		at += insn.size;
		/* A jump into the middle of an instruction: whoever jumps there decodes it differently. Nothing may
		 * move. */
		if (targets & (((UINT64_C(1) << insn.size) - 2) << out->offset))
			out->kind = SPI_INSN_UNMOVABLE;
		if (insn.kind == SPI_INSN_END || insn.kind == SPI_INSN_JMP || insn.kind == SPI_INSN_UNMOVABLE ||
		    (insn.flags & X86_INDIRECT_JUMP))
			break;
	}
	if (!record->insn_count)
		return SPI_REASON_UNDECODED;
	if (left > extent)
		left = extent;
	if (takes_return_address(p, left < TAKES_BYTES ? left : TAKES_BYTES, function->vaddr))
		return SPI_REASON_OTHER_ABI;
	return tables->insns.at[record->insn_first].kind == SPI_INSN_UNMOVABLE ? SPI_REASON_UNMOVABLE : SPI_REASON_NONE;
}
