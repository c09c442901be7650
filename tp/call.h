/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What calls with two events (call.c) and with one (one.c) have in common.
 */
#ifndef SPI_TP_CALL_H
#define SPI_TP_CALL_H

#include "tp/fire.h"

/*
 * spi_slot.aux: the epoch, so that slots from before a fork mean nothing in the
 * child, and in the low half TP_SLOT_SET when the channels are in the slot's area,
 * or, with one event a call, the length of the arguments there plus 1.
 */
#define TP_EPOCH_STEP	(1u << 16)
#define TP_SLOT_SET	1u
extern SPI_HIDDEN uint32_t tp_epoch;

/* A jump inside a function to its first byte: the same call goes on. */
SPI_INLINE int tp_call_loops(const struct spi_thread *t, const struct spi_point *point, const struct spi_frame *frame)
{
	const struct spi_slot *top = t->cur - 1;

	return t->cur && t->cur > t->base && top->point == point && top->p == (uint64_t) &frame->ra &&
		frame->ra == spi_slot_code(top) + SPI_SLOT_RETURN;
}

/* A call that got a slot is the program's, whatever it interrupts. */
SPI_INLINE void tp_exit_begin(struct spi_thread *t, const struct spi_slot *slot)
{
	if (spi_likely(!t->busy))
		t->busy_p = slot->p;
	t->busy++;
	spi_barrier();
}

#endif /* SPI_TP_CALL_H */
