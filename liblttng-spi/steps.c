/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program that single-steps itself: it sets the trap flag, and its handler of
 * SIGTRAP is called after each instruction. Protectors and tests of debuggers do
 * that. The handler may call functions that are traced: called between two
 * instructions of lttng-ust it would make a record inside of each record, and none
 * would ever be written; and lttng-ust blocks all signals at a thread's first
 * record, where a step ends the process.
 *
 * So steps in our code are the tracer's: SIGTRAP is taken where the program has a
 * handler for it, and a step in the agent, in stubs, slots and trampolines is let
 * go by. Where a thunk is about to call a payload, the call is made without the
 * flag, by way of spi_steps_again, which sets it again. The program's handler sees
 * the steps of the program's code, and of it all but those of the instructions that
 * were moved into a stub.
 *
 * Where the kernel's action is not ours (an attached program installed its handler
 * later), each step is seen by the program, and what blocks signals takes the flag
 * back itself (steps.h).
 *
 * In a signal handler, at any instruction.
 */
#include <ucontext.h>
#include "liblttng-spi/core.h"
#include "liblttng-spi/leave.h"
#include "liblttng-spi/steps.h"

#define CALL_EXIT	1u	/* of a thunk's call: by the point in rax, else by the one in rdi */

/* The payload returns here instead of to its thunk, whose address lies behind a word of padding. */
void spi_steps_again(void) SPI_HIDDEN;
__asm__(".text\n"
	"	.p2align 4\n"
	"	.globl spi_steps_again\n"
	"	.hidden spi_steps_again\n"
	"	.type spi_steps_again, @function\n"
	"spi_steps_again:\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa_offset 16\n"
	"	pushfq\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	orl $0x100, (%rsp)\n"
	"	popfq\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	lea 8(%rsp), %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size spi_steps_again, . - spi_steps_again\n");

static const struct spi_payload_call *payload_call_at(uint64_t rip)
{
	for (const struct spi_payload_call *c = spi_payload_calls; c < spi_payload_calls_end; c++)
		if (rip == (uint64_t) &c->at + (uint64_t) (int64_t) c->at)
			return c;
	return NULL;
}

/* `call *POINT_ENTRY(%rdi)` or `call *POINT_EXIT(%rax)`, three bytes each, made here. */
static void payload_enter(greg_t *regs, const struct spi_payload_call *call)
{
	const struct spi_point *point = (const struct spi_point *) regs[call->kind & CALL_EXIT ? REG_RAX : REG_RDI];
	uint64_t *sp = (uint64_t *) regs[REG_RSP];

	sp[-1] = (uint64_t) regs[REG_RIP] + 3;
	sp[-3] = (uint64_t) spi_steps_again;
	regs[REG_RSP] = (greg_t) (sp - 3);
	regs[REG_RIP] = (greg_t) (call->kind & CALL_EXIT ? (uint64_t) point->exit : (uint64_t) point->entry);
	regs[REG_EFL] &= ~(greg_t) SPI_FLAGS_TRAP;
}

/* 1: the step was one in the tracer's code. */
static int step_is_ours(void *context)
{
	ucontext_t *uc = context;
	greg_t *regs = uc->uc_mcontext.gregs;
	uint64_t rip = (uint64_t) regs[REG_RIP];
	const struct spi_payload_call *call;

	if (spi_near_code_has(rip) || spi_near_leads_to(rip))
		return 1;
	if (!spi_tracer_code_has(rip))
		return 0;
	call = payload_call_at(rip);
	if (call && (regs[REG_EFL] & (greg_t) SPI_FLAGS_TRAP))
		payload_enter(regs, call);
	return 1;
}

void spi_steps_begin(void)
{
	if (spi_env.test_steps)
		return;
	spi_trap_step = step_is_ours;
	spi_trap_share(1);
}
