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
 * So steps in our code, and all that are made while a record is, are the tracer's: SIGTRAP is taken where the program
 * has a handler for it, and such a step is let go by, which makes a record take milliseconds. The program's handler sees
 * the steps of the program's code, and of it all but those of the instructions that were moved into a stub.
 *
 * Where the kernel's action is not ours (an attached program installed its handler later), each step is seen by the
 * program. What blocks signals takes the flag back itself.
 *
 * In a signal handler, at any instruction.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/patch/internal.h"

int spi_context_is_tracing(void *context)
{
	const uint64_t pc = spi_context_pc(context);

	/* while it records: not a thread that never does */
	return (!spi_thread_is_foreign(&spi_thread) && (spi_thread.busy & (SPI_BUSY_ALWAYS - 1))) || spi_near_code_has(pc) || spi_near_leads_to(pc) || spi_tracer_code_has(pc);
}

void spi_steps_begin(void)
{
	if (spi_env.test_steps)
		return;
	spi_trap_step = spi_context_is_tracing;
	spi_trap_share(1);
}
