/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of hooks/ share. Control side. */
#ifndef SPI_HOOKS_INTERNAL_H
#define SPI_HOOKS_INTERNAL_H

#include "liblttng-spi/hooks/hooks.h"

#define SPI_HOOKS_MOST	192u

struct spi_hook_state {
	const struct spi_hook *hook;
	void *following;		/* the next function while nothing stands at the entry; NULL: none is known */
	struct spi_point *point;	/* at the entry; NULL: none could be made, or was asked for yet */
	uint32_t is_left;		/* another library's as well: pointers stay as they are */
};

/* ---- table.c ---- */
extern struct spi_hook_state spi_hook_states[SPI_HOOKS_MOST] SPI_HIDDEN;
extern uint32_t spi_hooks_count SPI_HIDDEN;
/* Find what all rows go on to; once: it does nothing after that. */
void spi_hooks_find_next(void) SPI_HIDDEN;
/* There is no jump for this row. `object`: whose function it is. */
void spi_hook_note_lost(const struct spi_hook *hook, const char *object, const char *reason) SPI_HIDDEN;

/* ---- linker.c ---- */
/* linker.c: the row's jump is wanted, or no more. */
void spi_hook_linker_write(const struct spi_hook *hook, int install) SPI_HIDDEN;

#endif /* SPI_HOOKS_INTERNAL_H */
