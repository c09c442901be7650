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
 * back itself.
 *
 * In a signal handler, at any instruction.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/patch/internal.h"

static const struct spi_payload_call *payload_call_at(uint64_t pc)
{
	for (const struct spi_payload_call *c = spi_payload_calls; c < spi_payload_calls_end; c++)
		if (pc == (uint64_t) &c->at + (uint64_t) (int64_t) c->at)
			return c;
	return NULL;
}

/* 1: the step was one in the tracer's code. */
static int step_is_ours(void *context)
{
	uint64_t pc = spi_context_pc(context);
	const struct spi_point *point;
	const struct spi_payload_call *call;

	if (spi_near_code_has(pc) || spi_near_leads_to(pc))
		return 1;
	if (!spi_tracer_code_has(pc))
		return 0;
	call = payload_call_at(pc);
	if (call && spi_context_steps(context)) {
		point = (const struct spi_point *) spi_payload_call_point(context, call);
		spi_payload_call_make(context, call->kind & SPI_PAYLOAD_CALL_EXIT ? (uint64_t) point->exit : (uint64_t) point->entry);
	}
	return 1;
}

void spi_steps_begin(void)
{
	if (spi_env.test_steps)
		return;
	spi_trap_step = step_is_ours;
	spi_trap_share(1);
}
