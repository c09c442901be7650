/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of entry points share: root.c, entry.c, outside.c. */
#ifndef SPI_ENTRY_H
#define SPI_ENTRY_H

#include "liblttng-spi/tree/sites/sites.h"

/* What is recorded of an entry's calls, one way or the other. */
struct spi_pair {
	struct spi_point outer;		/* first; begins trees */
	struct spi_point inner;		/* the same call inside */
	spi_exit_fn exit;		/* the payload's, of `outer` */
	spi_left_fn left;
	struct spi_entry *entry;
};

struct spi_entry {
	struct spi_point point;		/* first; the stub's */
	struct spi_pair *pairs[2];	/* [1]: compact records; NULL: no tree has wanted these */
	struct spi_tree_object *to;
	uint64_t func;
	uint32_t opens;			/* trees that it is the root of */
	uint32_t begins;		/* trees of a whole program: they begin with it, too, before main() and after */
	uint32_t rests;			/* those that begin no more for the moment: tree/budget/out.c */
	uint32_t is_spare;		/* goes when a site's call leads here: outside.c */
	uint64_t returns_to;		/* the latest return address that is one: root.c */
	uint32_t is_late;		/* its bytes are still to be written for that */
	struct spi_entry *next;
	struct spi_point *named;	/* of a rule by name that traces this function, in force; NULL: none */
	struct spi_point *before;	/* whose bytes it is about to take. entry-named.c */
};

/* ---- entry.c ---- */
extern struct spi_entry *spi_entries;
struct spi_entry *spi_entry_find(uint64_t address);
int spi_entry_use(struct spi_entry *e, uint32_t trees);	/* what trees of their kinds need is there. 0 or -ENOMEM */
/* Its bytes, under the patch lock: the jump, or the program's. 0, or a negative errno: they were changed by somebody else. */
int spi_entry_write(struct spi_entry *e, int install);
void spi_entry_hold(struct spi_entry *e);	/* control side, without the patch lock: its jump is put in place if it is not there */
/* A new one, published; under the patch lock, which the control side gives back for what it has to ask. NULL: told why not. */
struct spi_entry *spi_entry_new(struct spi_tree_object *to, uint64_t func, uint32_t trees, int is_control, uint64_t *before);
/* One that may be of no use, of the program itself: nothing is told. NULL: it cannot be. */
struct spi_entry *spi_entry_spare(struct spi_tree_object *to, uint64_t func, uint32_t trees, uint64_t *before);
void spi_entry_spare_over(struct spi_entry *e);	/* a site's call leads to it: it goes */
/* One whose function is left out for a tree's budget, or comes back: under the patch lock, any thread. Its bytes are written by spi_entry_settle(). */
void spi_entry_rest(struct spi_entry *e, uint32_t tree, int rests);
void spi_entry_settle(struct spi_entry *e);
void spi_entries_forget(uint32_t trees);
/* Other trees than this one, or a rule by name, need it. */
int spi_entry_is_wanted(const struct spi_entry *e, uint32_t tree);

/* ---- entry-named.c: under the patch lock ---- */
void spi_entry_ask(struct spi_entry *e);		/* a point that has its bytes is to let it be prepared: then */
void spi_entry_got(struct spi_entry *e, int r);		/* with what came of that: 0, or a negative errno */

#endif /* SPI_ENTRY_H */
