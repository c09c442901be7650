/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What site.c and site-ways.c share: how a site's text is changed. Under the patch lock. */
#ifndef SPI_SITE_H
#define SPI_SITE_H

#include "liblttng-spi/tree.h"

/* spi_site.form: which bytes become what. */
enum spi_site_form {
	SPI_FORM_DISPLACEMENT = 1,	/* the instruction's own displacement */
	SPI_FORM_WHOLE,			/* the instruction, to a direct one of its length */
	SPI_FORM_WORD,			/* the displacement of a call through memory, to a word of ours that holds the stub's address */
	SPI_FORM_JUMP,			/* a 5-byte jump where the first instruction stands */
	SPI_FORM_PUN,			/* a jump of which the first instruction's bytes are the beginning */
	SPI_FORM_SHORT,			/* a 2-byte jump */
	SPI_FORM_INT3,
	SPI_FORM_ENTRY,			/* none: an entry point has moved the instruction, and its copy leads to the stub */
};

extern uint32_t spi_site_workers SPI_HIDDEN;	/* bit per enum spi_site_worker that may be used */
uint64_t spi_site_start(const struct spi_site *s);	/* of the bytes that the map describes */
uint64_t spi_site_end(const struct spi_site *s);	/* where a call returns to */
uint8_t spi_site_how(uint64_t address, uint32_t size);	/* how bytes of one instruction can be changed; 0: in no way */
int spi_site_decline(struct spi_site *s, const char *reason);
int spi_site_is_jcc(const struct spi_map_site *site);
int spi_site_is_call(const struct spi_map_site *site);
/* The operation that puts the site in place. 0, or -1: it cannot be done. */
int spi_site_change(const struct spi_site *s, struct spi_text_op *op);
/* Make the stub. by_jump: it is reached by a jump and pushes the return address. 0, or -1 and s->reason. */
int spi_site_stub(struct spi_site *s, int by_jump);

/* ---- site-ways.c: block, spring and trap ---- */
int spi_site_wants_trap(const struct spi_map_site *map);	/* nothing else will do, as far as the map tells */
void spi_site_way_choose(struct spi_site *s);
int spi_site_pad_back(const struct spi_site *s);
int spi_site_way_change(const struct spi_site *s, struct spi_text_op *op);

#endif /* SPI_SITE_H */
