/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of tree/sites/ share: how a site's text is changed. Under the patch lock. */
#ifndef SPI_TREE_SITES_INTERNAL_H
#define SPI_TREE_SITES_INTERNAL_H

#include "liblttng-spi/arch/arch.h"
#include "liblttng-spi/tree/sites/sites.h"

struct spi_emit;
struct spi_entry;
struct spi_map_site;
struct spi_site;
struct spi_tree_object;
struct spi_tree_text;

/* spi_site.form: which bytes become what. */
enum spi_site_form {
	SPI_FORM_DISPLACEMENT = 1,	/* the instruction's own displacement */
	SPI_FORM_WHOLE,			/* the instruction, to a direct one of its length */
	SPI_FORM_WORD,			/* the displacement of a call through memory, to a word of ours that holds the stub's address */
	SPI_FORM_JUMP,			/* a 5-byte jump that begins where an instruction does, with what stands behind that */
	SPI_FORM_INT3,
	SPI_FORM_CUSTOM,		/* what a user's own worker does */
	SPI_FORM_ENTRY,			/* none: an entry point has moved the instruction, and its copy leads to the stub */
};

#define SPI_SITE_WORKER_NAMES	{ "", "call", "block", "trap", "custom" }
#define SPI_FIT_YES	1u	/* calls of it may be recorded */

/* ---- site.c ---- */
extern uint32_t spi_site_workers SPI_HIDDEN;	/* bit per enum spi_site_worker that may be used */
int spi_site_is_jcc(const struct spi_map_site *site);
int spi_site_decline(struct spi_site *s, const char *reason);
uint8_t spi_site_how(uint64_t address, uint32_t size);	/* how bytes of one instruction can be changed; 0: in no way */
/* The operations, all in one executable piece of the object. -1: they are in none, and nothing is written. */
int spi_site_text_write(const struct spi_tree_object *to, struct spi_text_op *op, uint32_t n);
/* Is there what the file has, from that many bytes before the instruction on, and nobody else's? */
int spi_site_is_untouched(const struct spi_site *s, uint32_t before);
/*
 * Room for a stub, then the stub: with `moved` instructions moved along, by_jump: reached by a jump, it pushes the
 * return address. 0, or -1 and s->reason.
 */
int spi_site_stub_room(struct spi_site *s, struct spi_emit *e);
int spi_site_stub_write(struct spi_site *s, struct spi_emit *e, uint32_t moved, int by_jump);
void spi_site_stub_drop(struct spi_site *s, struct spi_emit *e);
int spi_site_stub(struct spi_site *s, uint32_t moved, int by_jump);
/* The site is new: choose a worker, and make its stub. s->worker or s->reason. */
void spi_site_choose(struct spi_site *s);

/* ---- jump.c, trap.c: workers, and what they write ---- */
int spi_site_block(struct spi_site *s);
int spi_site_jump_change(const struct spi_site *s, struct spi_text_op *op);
int spi_site_trap(struct spi_site *s);
int spi_site_trap_change(const struct spi_site *s, struct spi_text_op *op);

/* ---- clients.c ---- */
/* those that take it */
uint32_t spi_site_decided(const struct spi_tree_object *to, const struct spi_map_site *map, uint32_t trees);

/* ---- custom.c ---- */
extern uint32_t spi_site_customs SPI_HIDDEN;	/* workers of users' own */
int spi_site_custom(struct spi_site *s);	/* one of them takes the site: 0, or -1 */
int spi_site_custom_claim(struct spi_site *s);	/* others keep away from its bytes. 0 or -ENOMEM */
/* its text. 0, or -1: the program's bytes stand there */
int spi_site_custom_change(struct spi_site *s, int install);

/* ---- entry.c ---- */
/* Other trees than this one, or a rule by name, need it. */
int spi_entry_is_wanted(const struct spi_entry *e, uint32_t tree);
/* The entry point that has moved this site's instruction is to be in place. Under the patch lock. */
void spi_entry_hold(const struct spi_site *s);

/* ---- entry-named.c: under the patch lock ---- */
void spi_entry_ask(struct spi_entry *e);		/* a point that has its bytes is to let it be prepared: then */
void spi_entry_got(struct spi_entry *e, int r);		/* with what came of that: 0, or a negative errno */
/* Before a tree's sites are placed. */
void spi_entry_named_look(struct spi_tree_object *to, uint64_t func, uint32_t trees);

/* ---- object.c: any thread, any state, without a lock ---- */
/* The executable piece of the object that the address is in; NULL: none. */
const struct spi_tree_text *spi_tree_text_at(const struct spi_tree_object *to, uint64_t address);

/* ---- place.c: under the patch lock ---- */
void spi_sites_at_entry(struct spi_tree_object *to, uint64_t func, uint32_t trees);
void spi_sites_taken(struct spi_tree_object *to, uint64_t func, const struct spi_patch *entry);

/* ---- both.c ---- */
/* Its trees have changed, `fresh` of the other kind than its point's have come. Under the patch lock. -1: no memory for these. */
int spi_site_both_look(struct spi_site *s, uint32_t fresh);

SPI_INLINE uint64_t spi_site_address(const struct spi_site *s)	/* of its instruction */
{
	return s->map->vaddr + s->owner->object->bias;
}

SPI_INLINE uint64_t spi_site_start(const struct spi_site *s)	/* of what is changed */
{
	return spi_site_address(s) - s->before;
}

SPI_INLINE uint64_t spi_site_end(const struct spi_site *s)	/* where a call returns to */
{
	return spi_site_address(s) + s->map->size;
}

/* What the file has, from that many bytes before the instruction on. */
SPI_INLINE const uint8_t *spi_site_bytes(const struct spi_map_site *map, uint32_t before)
{
	return map->bytes + map->before - before;
}

/* Bytes of the latest `moved` instructions before it. */
SPI_INLINE uint32_t spi_site_before(const struct spi_map_site *map, uint32_t moved)
{
	uint32_t size = 0;

	while (moved--)
		size += map->insn[map->insn_count - 1 - moved].size;
	return size;
}

/* Of the first of them; of itself where none is moved. */
SPI_INLINE uint32_t spi_site_first(const struct spi_map_site *map, uint32_t moved)
{
	return moved ? map->insn[map->insn_count - moved].size : map->size;
}

#endif /* SPI_TREE_SITES_INTERNAL_H */
