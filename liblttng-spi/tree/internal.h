/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of tree/ share: the rule's part (control side), entry points and roots (under the patch lock). */
#ifndef SPI_TREE_INTERNAL_H
#define SPI_TREE_INTERNAL_H

#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/tree.h"

struct spi_frame;
struct spi_rule_names;
struct spi_tree;

/* ---- objects.c ---- */
/* Control side: the object with its map and gates. NULL and `error`. */
struct spi_tree_object *spi_tree_object_get(struct spi_link *link, struct spi_object *object, uint32_t tree, char *error,
	size_t error_size);
/* The controller may make the maps of all objects that the tree goes into, at the same time. */
void spi_tree_maps_announce(const struct spi_tree *tree, struct spi_link *link);

/* An object that has its map is one that trees go into from now on. Under the patch lock. */
void spi_tree_object_enter(struct spi_tree_object *to);
/* The object was unloaded: its addresses may become another's. Not under the patch lock. */
void spi_tree_object_leave(struct spi_tree_object *to);

/* ---- made.c ---- */
int spi_tree_is_vdso(uint64_t address);

/* ---- propel.c: what a call of a site runs ---- */
uint64_t spi_site_call(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
/* Likewise, where clients' trees alone have the site, or once had it: it goes on to the usual one. */
uint64_t spi_site_call_clients(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
void spi_site_first_call(struct spi_point *point, uint32_t trees, uint64_t p);
/* spi_tree_of(), when there is something to look at. */
uint32_t spi_tree_thread_look(struct spi_thread *t);
/* A callee is about to run: its sites into place. Returns the trees of `trees` that record it. Under the patch lock. */
uint32_t spi_tree_enter(uint64_t callee, uint32_t trees, int *is_known);
uint32_t spi_tree_limit(struct spi_thread *t, uint32_t trees);
void spi_tree_base_set(struct spi_thread *t, uint32_t tree);	/* depth counts from here */

/* ---- callee.c: what a call of a site runs ---- */
uint64_t spi_site_call_any(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
struct spi_point *spi_site_child(struct spi_site *s, uint64_t target, uint32_t compact);
struct spi_point *spi_site_first_call_any(struct spi_site *s, struct spi_point *point, uint32_t trees, struct spi_frame *frame,
	uint32_t compact);
/* Likewise: is there nothing to be done for the call, which has no point and never gets one? It is counted then. */
int spi_site_call_is_beyond(const struct spi_site *s, uint32_t trees, const struct spi_frame *frame);

/* ---- both.c ---- */
uint64_t spi_site_call_both(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);

/* ---- tracer-calls.c ---- */
/* 1: the callee is the tracer's, and what it calls is not recorded. Under the patch lock. */
int spi_tree_tracer_take(struct spi_point *point, uint64_t callee, uint32_t trees);

/* ---- root.c: struct spi_tree_calls ---- */
uint64_t spi_entry_call(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
void spi_pair_exit(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
void spi_pair_left(struct spi_slot *slot, enum spi_left how);

/* ---- outside.c ---- */
void spi_tree_callback_make(uint64_t address);	/* the same, control side: where something may be asked, and int3 may be */
/*
 * A site calls code that is in no object of a tree's. 1: it leads to a function, whose calls are recorded at its entry from now on;
 * the same memory may lead to another function at the site's next call. 0: nothing is known of the code, and the site is named
 * unless the code is another object's. Under the patch lock.
 */
int spi_tree_made_enter(const struct spi_site *s, uint64_t code, uint32_t trees);
void spi_tree_handlers_look(void);
/* Where main() is, by the program's first instructions; 0: not to be seen. */
uint64_t spi_tree_find_main(void);
void spi_tree_handed_over_take(struct spi_tree *tree);	/* outside.c */

/* ---- thread-made.c ---- */
/* thread-made.c: a thread that is about to be made is to be in these trees from its start on. 0: start and arg are replaced for that; any thread */
int spi_thread_make(uint64_t *start, uint64_t *arg, uint32_t trees);

/* ---- told.c ---- */
void spi_tree_tag_set(uint32_t index, const char *tag);

/* ---- list.c ---- */
int spi_tree_list_add(struct spi_tree *tree);		/* gives it a bit; -ENOSPC: there are too many */
void spi_tree_list_remove(const struct spi_tree *tree);
/* The least budget of the trees in force, and of this one; 0: none has a budget. */
uint32_t spi_tree_budget_least(const struct spi_tree *and);

/* ---- options.c ---- */
/* Does the glob mean this function, by its linkage name, or its qualified one with or without parameters? */
int spi_tree_glob_means(const char *glob, const struct spi_tree_object *to, uint64_t i);
int spi_tree_names_mean(const struct spi_rule_names *names, const struct spi_tree_object *to, uint64_t i);
int spi_tree_covers(const struct spi_tree *tree, const struct spi_object *object);

/* ---- roots.c: the objects that a tree goes into, and the functions that it begins with ---- */
/*
 * An object that was there, or has just come, with all that the tree wants of it. NULL: it cannot be, or is had already. That
 * it cannot be is remembered: whatever the program loads next it would be asked for again, while who loads that waits.
 */
struct spi_tree_object *spi_tree_take_object(struct spi_tree *tree, struct spi_link *link, struct spi_object *object);
/* calls-of: the sites of these functions, and nothing behind them */
void spi_tree_calls_of(struct spi_tree *tree, struct spi_tree_object *to);
/* Control side, once the tree has its objects: does the program have the root? */
void spi_tree_root_find(struct spi_tree *tree);
int spi_tree_take_main(struct spi_tree *tree, struct spi_link *link);	/* -ENOENT: there is none */
void spi_tree_take_roots(struct spi_tree *tree, struct spi_link *link);
/* Programs in which nothing is found to begin with; a function that somebody names may just not be in them. */
void spi_tree_main_missing(struct spi_tree *tree);
void spi_tree_outside_take(const struct spi_tree *tree);	/* of objects that have come */
/* The object has been loaded since the tree began: the tree may begin there, too. */
void spi_tree_take_loaded(struct spi_tree *tree, struct spi_link *link, struct spi_object *object);

/* ---- start.c ---- */
/* 1: the tree is to begin later, and will be by spi_tree_starts_take(). 0: now. -ENOTSUP: tree->why. */
int spi_tree_start_later(struct spi_tree *tree, struct spi_link *link);
int spi_tree_start_is_due(const struct spi_tree *tree);
void spi_tree_start_cancel(struct spi_tree *tree);
void spi_tree_start_thread(void);	/* where there is no controller: a thread that does what the control thread would */

/* ---- stacks.c ---- */
/* Functions that may be on some thread's stack now: their sites into place. Returns how many. */
uint32_t spi_tree_stacks_look(uint32_t tree);

/* ---- follow.c ---- */
void spi_tree_follow_start(struct spi_tree *tree);
void spi_tree_follow_stop(void);
void spi_tree_loads_follow(void);	/* a thread of the program, which may wait */

/* ---- load-watch.c ---- */
void spi_tree_ends_look(int all);	/* constructors and destructors of objects that have come; all: of every object */
void spi_tree_apart_tell(struct spi_link *link);	/* control side: what is in other namespaces */

/* The trees of the calling thread. */
SPI_INLINE uint32_t spi_tree_of(struct spi_thread *t)
{
	if (spi_unlikely(t->tree_epoch != spi_tree_epoch))
		return spi_tree_thread_look(t);
	return t->tree;
}

/* The trees that a call is in: those of its thread whose depth is not reached. */
SPI_INLINE uint32_t spi_tree_within(struct spi_thread *t)
{
	uint32_t trees = spi_tree_of(t);

	return spi_unlikely(trees & spi_tree_limited) ? spi_tree_limit(t, trees) : trees;
}

SPI_INLINE int spi_tree_is_agent(uint64_t address)
{
	extern const uint8_t __ehdr_start[] SPI_HIDDEN, _end[] SPI_HIDDEN;

	return address >= (uint64_t) __ehdr_start && address < (uint64_t) _end;
}

#endif /* SPI_TREE_INTERNAL_H */
