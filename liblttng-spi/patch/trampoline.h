/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What trampoline.c asks of trampoline-pages.c. Under the patch lock. */
#ifndef SPI_TRAMPOLINE_H
#define SPI_TRAMPOLINE_H

#include "liblttng-spi/patch/internal.h"
#include "liblttng-spi/patch/near-places.h"

#define LOWEST_JUMP	(UINT64_C(1) << 20)	/* below is where NULL + offset may land */
#define HIGHEST_JUMP	(UINT64_C(0x7fffffff0000))
#define SPI_TRAMPOLINE_RECENT	64u	/* pages looked at first for room */

/*
 * Write the trampoline at exactly this place, on one page or across two. 0, or -1 when the place is taken, or, which *reason
 * then says, none can be had anywhere.
 */
int spi_trampoline_place(uint64_t place, uint64_t to, const char **reason);
int spi_trampoline_page_may_be(uint64_t page);	/* is nothing known to be there? */
int spi_trampoline_page_is_ours(uint64_t page);
/* 0: no trampoline speaks against one there; else how far on it might be otherwise. */
uint32_t spi_trampoline_busy(uint64_t address);
uint64_t spi_trampoline_recent(uint32_t i);	/* the page that was made i-th last; 0: none */

#endif /* SPI_TRAMPOLINE_H */
