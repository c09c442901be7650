/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Results that no caller uses. LLVM removes the result of a function of one file when no caller
 * looks at it, gcc makes a clone without the result; debug info still names its type. The code
 * tells: the callers, all of which are in the function's own unit, write the result's register
 * before they read it, or the function itself never writes that register.
 */
#include "codemap/base/libraries.h"
#include "codemap/code/x86.h"
#include "codemap/types/unused-result.h"

#define LOOK_INSNS	96	/* instructions followed behind a call */
#define LOOK_DEPTH	8	/* conditional jumps followed both ways */

struct body {
	const struct image *image;
	const uint8_t *code;
	uint64_t low, size;
	int returns_value;
};

/* Behind a call: is the register read, or written first? */
enum fate { FATE_IGNORED, FATE_UNSURE, FATE_USED };

static csh disassembler(void)
{
	static csh handle;

	if (!handle && (libraries.cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK ||
			libraries.cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK))
		fail("the disassembler cannot be used: check libcapstone");
	return handle;
}

static int is_result(unsigned int reg, int is_vector)
{
	if (is_vector)
		return reg == X86_REG_XMM0 || reg == X86_REG_YMM0 || reg == X86_REG_ZMM0;
	return reg == X86_REG_RAX || reg == X86_REG_EAX || reg == X86_REG_AX || reg == X86_REG_AL || reg == X86_REG_AH;
}

/* xor %eax,%eax and its like read nothing. */
static int clears_itself(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	unsigned int n = x86->op_count;

	if (n < 2 || x86->operands[n - 1].type != X86_OP_REG || x86->operands[n - 2].type != X86_OP_REG ||
	    x86->operands[n - 1].reg != x86->operands[n - 2].reg)
		return 0;
	switch (insn->id) {
	case X86_INS_XOR: case X86_INS_SUB: case X86_INS_PXOR: case X86_INS_XORPS: case X86_INS_XORPD:
	case X86_INS_VPXOR: case X86_INS_VXORPS: case X86_INS_VXORPD:
		return 1;
	}
	return 0;
}

static void insn_accesses(const cs_insn *insn, int is_vector, int *reads, int *writes)
{
	cs_regs read, written;
	uint8_t read_count, written_count, i;

	*reads = *writes = 0;
	if (libraries.cs_regs_access(disassembler(), insn, read, &read_count, written, &written_count) != CS_ERR_OK) {
		*reads = 1;
		return;
	}
	for (i = 0; i < read_count; i++)
		*reads |= is_result(read[i], is_vector);
	for (i = 0; i < written_count; i++)
		*writes |= is_result(written[i], is_vector);
	if (clears_itself(insn))
		*reads = 0;
}

static int insn_access(const struct body *body, uint64_t at, int is_vector, int *reads, int *writes)
{
	cs_insn *insn = NULL;
	size_t n = libraries.cs_disasm(disassembler(), body->code + at, body->size - at, body->low + at, 1, &insn);

	if (!n)
		return 0;
	insn_accesses(insn, is_vector, reads, writes);
	libraries.cs_free(insn, n);
	return 1;
}

/* mov $n,%al or %eax: so many vector registers are passed to a function that takes any number of arguments. */
static int passes_vectors(const struct x86_decoded *insn, const uint8_t *code)
{
	return !insn->map && (insn->opcode == 0xb0 || insn->opcode == 0xb8) && !(insn->rex & 1) &&
	       code[insn->opcode_offset + 1];
}

/*
 * What becomes of the register from byte `at` of the body on. Of xmm0 a call may make an
 * argument, which only the calls of functions like printf() tell.
 */
static enum fate fate_from(const struct body *body, uint64_t at, int is_vector, int *left, int depth)
{
	enum fate vector_passed = FATE_UNSURE;

	while (at < body->size && (*left)-- > 0) {
		struct x86_decoded insn;
		int reads, writes;

		if (!x86_decode(body->code + at, body->size - at, body->low + at, &insn))
			return FATE_UNSURE;
		if (insn.flags & X86_IS_CALL)
			return is_vector ? vector_passed : FATE_IGNORED;	/* rax is written */
		if (insn.kind == SPI_INSN_END || (insn.flags & X86_INDIRECT_JUMP))
			return !insn.map && (insn.opcode == 0xc3 || insn.opcode == 0xc2) && !body->returns_value ?
				FATE_IGNORED : FATE_UNSURE;
		if (!insn_access(body, at, is_vector, &reads, &writes))
			return FATE_UNSURE;
		if (passes_vectors(&insn, body->code + at))
			vector_passed = FATE_USED;
		if (reads)
			return FATE_USED;
		if (writes)
			return FATE_IGNORED;
		at += insn.size;
		if (insn.flags & X86_IS_JUMP) {
			uint64_t target = insn.target - body->low;
			enum fate taken;

			if (target >= body->size || depth == LOOK_DEPTH)
				return FATE_UNSURE;
			if (insn.kind == SPI_INSN_JMP) {
				at = target;
				continue;
			}
			taken = fate_from(body, target, is_vector, left, depth + 1);
			if (taken != FATE_IGNORED)
				return taken;
		}
	}
	return FATE_UNSURE;
}

static struct prototype *doubtful_at(const struct functions *functions, uint64_t vaddr)
{
	struct function *f = functions_at(functions, vaddr);
	struct prototype *prototype = f ? f->type : NULL;

	return prototype && prototype->is_result_doubtful ? prototype : NULL;
}

static void fate_tell(struct prototype *prototype, enum fate fate)
{
	prototype->callers++;
	if (fate > prototype->result_fate)
		prototype->result_fate = (uint8_t) fate;
}

/* A function's calls of those that are in doubt; what lets its own result be known for missing. */
static void body_look(const struct body *body, const struct functions *functions, struct prototype *own)
{
	int leaves = 0, writes_result = 0;
	uint64_t at;

	for (at = 0; at < body->size;) {
		struct x86_decoded insn;
		struct prototype *target;
		int left = LOOK_INSNS, reads, writes;

		if (!x86_decode(body->code + at, body->size - at, body->low + at, &insn)) {
			leaves = 1;
			at++;
			continue;
		}
		if (own && !writes_result)
			writes_result = !insn_access(body, at, own->is_result_vector, &reads, &writes) || writes;
		at += insn.size;
		leaves |= (insn.flags & (X86_IS_CALL | X86_INDIRECT_JUMP)) || insn.kind == SPI_INSN_CALL_INDIRECT ||
			  ((insn.flags & X86_IS_JUMP) && insn.target - body->low >= body->size);
		target = insn.target && insn.target != body->low ? doubtful_at(functions, insn.target) : NULL;
		if (!target)
			continue;
		if (insn.kind == SPI_INSN_CALL)
			fate_tell(target, fate_from(body, at, target->is_result_vector, &left, 0));
		else if (insn.flags & X86_IS_JUMP)
			fate_tell(target, body->returns_value ? FATE_UNSURE : FATE_IGNORED);
		else
			fate_tell(target, FATE_USED);	/* its address is taken: then it is as it was written */
	}
	if (own && !leaves && !writes_result)
		own->is_result_unwritten = 1;
}

static int body_open(struct body *body, struct dw_unit *unit, const struct dw_node *node, const struct functions *functions)
{
	struct dw_value value;
	struct dw_die die;
	uint64_t left = 0;

	if (!node->is_code || !die_at(unit, node->offset, &die) || !die_entry_pc(&die, &body->low, &body->size))
		return 0;
	body->image = functions->image;
	body->code = image_is_code(body->image, body->low) ? image_at(body->image, body->low, &left) : NULL;
	body->size = body->size < left ? body->size : left;
	body->returns_value = die_attr_origin(&die, DW_AT_type, &value);
	return body->code != NULL;
}

static void result_mark(const struct prototype *prototype, struct tables *tables)
{
	struct spi_map_field *field = &tables->fields.at[prototype->field_first + prototype->field_count];
	uint8_t place = SPI_PLACE_OPTIMISED_OUT;
	unsigned int i;

	if (!prototype->is_result_unwritten) {
		if (!prototype->callers || prototype->result_fate == FATE_USED)
			return;
		if (prototype->result_fate == FATE_UNSURE)
			place = SPI_PLACE_NONE;
	}
	for (i = 0; i < prototype->ret_count; i++) {
		field[i].place = place;
		field[i].offset = 0;
	}
}

void results_check(struct dw_unit *unit, const struct functions *functions, struct tables *tables)
{
	enum { ARE_THERE, LOOK, MARK, DONE } pass;
	int any = 0;
	size_t i;

	for (pass = ARE_THERE; pass < DONE && (pass == ARE_THERE || any); pass++)
		for (i = 0; i < unit->nodes.count; i++) {
			struct prototype *own;
			struct body body;

			if (!body_open(&body, unit, &unit->nodes.at[i], functions))
				continue;
			own = doubtful_at(functions, body.low);
			if (pass == ARE_THERE) {
				any |= own != NULL;
			} else if (pass == LOOK) {
				body_look(&body, functions, own);
			} else if (own) {
				result_mark(own, tables);
				own->is_result_doubtful = 0;
			}
		}
}
