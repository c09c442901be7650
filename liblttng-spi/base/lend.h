/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The agent knows a thread by its thread-local words. A child on its parent's memory (vfork) has its parent's words. So the thread lends its words before such a child
 * is made: from then on its calls ask the kernel whose thread it is.
 */
#ifndef SPI_BASE_LEND_H
#define SPI_BASE_LEND_H

enum spi_lend {
	SPI_LEND_ONCE = 1,	/* until the thread's next call that is not the child's */
	SPI_LEND_WHILE,		/* until spi_lend_over() */
	SPI_LEND_EVER,
};

/* The calling thread's words are about to be a child's as well. 0: they were already, or nothing is traced here. */
int spi_lend(enum spi_lend how);
int spi_lend_beside(enum spi_lend how);	/* the same; the child runs beside the thread, so functions' points ask, too */
void spi_lend_over(void);		/* in the child of fork(), too, which is what it seems */
/* 1: the caller is a child with its parent's words; 0: it is not, or no longer; -1: it is not, and one may begin: ask again. Any thread. */
int spi_is_lent(void);

#endif /* SPI_BASE_LEND_H */
