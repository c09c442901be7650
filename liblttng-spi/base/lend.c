/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"

/* The parent's thread id while a child may run in its place. */
static __thread struct {
	int32_t tid;
	enum spi_lend how;
} lent __attribute__((tls_model("initial-exec")));

int spi_lend(enum spi_lend how)
{
	if (lent.tid || spi_thread.busy || !spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		return 0;
	lent.how = how;
	lent.tid = (int32_t) spi_sys(SYS_gettid);
	spi_thread.tree_epoch = spi_thread.words_epoch = 0;	/* so that each call looks */
	return 1;
}

int spi_lend_beside(enum spi_lend how)
{
	if (!spi_lend(how))
		return 0;
	__atomic_fetch_or(&spi_thread.owed, SPI_THREAD_LENT, __ATOMIC_RELAXED);
	return 1;
}

void spi_lend_over(void)
{
	lent.tid = 0;
	__atomic_fetch_and(&spi_thread.owed, ~SPI_THREAD_LENT, __ATOMIC_RELAXED);
}

int spi_is_lent(void)
{
	if (spi_likely(!lent.tid) || spi_thread_is_foreign(&spi_thread))
		return 0;
	if ((int32_t) spi_sys(SYS_gettid) != lent.tid)
		return 1;
	if (lent.how != SPI_LEND_ONCE)
		return -1;
	spi_lend_over();		/* vfork() has returned in the parent: the child is gone */
	return 0;
}
