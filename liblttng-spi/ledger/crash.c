/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A fault that the program does not handle, or abort(), is about to end the program. What its threads have kept back
 * of compact records is written before: the last calls are those that are looked for.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/ledger/ledger.h"

#define LAST_ROOM	65536u		/* bytes of stack that are left for it */

/*
 * Not on another stack, nor near this one's end. Should this fault, too, the kernel ends the program there and then,
 * as the signal is blocked.
 */
void spi_closing_last(void)
{
	static uint32_t once;
	struct spi_thread *t = &spi_thread;
	uint64_t sp = (uint64_t) __builtin_frame_address(0);

	if (!spi_tree_existing || !spi_may(SPI_MAY_ACT) || spi_thread_is_foreign(t) || !spi_payload)
		return;
	if (sp < t->stack_high && sp > t->stack_low + LAST_ROOM && !__atomic_exchange_n(&once, 1, __ATOMIC_ACQ_REL))
		spi_payload->flush();
}

/* Before libc's abort(), in which exceptions end that nobody catches. */
static uint64_t abort_enters(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	(void) point;
	(void) frame;
	(void) vec;
	(void) stride;
	if (!spi_thread.busy && spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		spi_closing_last();
	return 0;
}

const struct spi_hook spi_crash_hooks[] = {
	{ "abort", .before = abort_enters, .ways = SPI_HOOK_ENTRY, .set = SPI_HOOKS_PROGRAMS },
	{ NULL },
};
