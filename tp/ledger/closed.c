/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Which threads record, and a thread's own lock while its calls may be closed by another (module/close.c). */
#include "liblttng-spi/base/base.h"
#include "tp/ledger/ledger.h"

SPI_FORK_DATA uint32_t tp_closed;

int tp_close_begin(enum spi_close_for what)
{
	static const uint32_t states[] = { TP_CAREFUL, TP_EXEC, TP_ENDED };
	uint32_t was = __atomic_load_n(&tp_closed, __ATOMIC_RELAXED);

	do
		if (was >= states[what])
			return 0;
	while (!__atomic_compare_exchange_n(&tp_closed, &was, states[what], 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return was < TP_EXEC;
}

void tp_close_end(enum spi_close_for what)
{
	uint32_t was = what == SPI_CLOSE_FOR_RULES ? TP_CAREFUL : TP_EXEC;

	__atomic_compare_exchange_n(&tp_closed, &was, TP_OPEN, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

int tp_careful_lock(const struct spi_thread *t)
{
	const uint32_t own = SPI_CLOSING_OWN;

	for (uint32_t was = SPI_CLOSING_FREE; t->own; was = SPI_CLOSING_FREE) {
		if (__atomic_compare_exchange_n(&t->own->closing, &was, own, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return 1;
		if (was == SPI_CLOSING_OWN)
			return 0;
		spi_raw3(SYS_sched_yield, 0, 0, 0);
	}
	return 0;
}

void tp_careful_unlock(const struct spi_thread *t)
{
	__atomic_store_n(&t->own->closing, SPI_CLOSING_FREE, __ATOMIC_RELEASE);
}
