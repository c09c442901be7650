/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Call trees: what their files share. Below them are tree/sites/ (sites.h) and tree/budget/ (budget.h).
 *
 *	propel.c	calls of sites: in the tree? callee's own sites patched? then the payload
 *	callee.c	sites whose callee is known only when they are reached
 *	root.c		calls of entry points: roots, handlers of signals, start routines of threads
 *	outside.c	functions that get an entry point, as somebody outside of the tree calls them
 *	objects.c	objects come and go
 *	rule.c		trees begin and end; list.c, options.c, roots.c, start.c, follow.c
 *	told.c		tags, and what is told at the end
 */
#ifndef SPI_TREE_H
#define SPI_TREE_H

#include "liblttng-spi/tree/sites/sites.h"

/* ---- objects.c ---- */
/* Control side: the object with its map and gates. NULL and `error`. */
struct spi_tree_object *spi_tree_object_get(struct spi_link *link, struct spi_object *object, int compact, char *error,
	size_t error_size);
void spi_tree_objects_look(void);	/* after a scan, when something was unloaded */

/* ---- objects/symbols.c ---- */
/*
 * What a slot of `from` with this import will be bound to, as the dynamic linker searches: 0 when that is not known.
 * after_agent: not the agent's own definition, but the next. Any thread, any state: reads the objects' tables only.
 */
uint64_t spi_symbol_find(const char *name, const char *version, const struct spi_object *from, int after_agent);
/* Likewise, of a call by address: what the agent's function there stands before; 0: nothing. */
uint64_t spi_symbol_behind(uint64_t address, const struct spi_object *from);
int spi_symbols_know(uint64_t address, int is_code);
void spi_symbols_scan(void);	/* control side: look which objects there are */

/* ---- propel.c, callee.c: what a call of a site runs ---- */
uint64_t spi_site_call(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
uint64_t spi_site_call_any(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);

/* ---- callee.c: the child of that kind for this callee; and all that is new of the call done, with `point` or NULL. NULL: not recorded ---- */
struct spi_point *spi_site_child(struct spi_site *s, uint64_t target, uint32_t compact);
struct spi_point *spi_site_first_call_any(struct spi_site *s, struct spi_point *point, uint32_t trees, struct spi_frame *frame,
	uint32_t compact);
/* Likewise: is there nothing to be done for the call, which has no point and never gets one? It is counted then. */
int spi_site_call_is_beyond(const struct spi_site *s, uint32_t trees, const struct spi_frame *frame);
/* ---- propel.c: the same of a site whose callee is always the same ---- */
void spi_site_first_call(struct spi_point *point, uint32_t trees, uint64_t p);

/* ---- both.c ---- */
uint64_t spi_site_call_both(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
/*
 * A call for two points: `code` is what the first one's payload answered, `second` what the other did between the two.
 * Returns what the thunk is to be answered.
 */
void spi_both_begin(struct spi_frame *frame, uint64_t code);
uint64_t spi_both_end(struct spi_frame *frame, uint64_t code, uint64_t second);

/* ---- propel.c ---- */
/* spi_tree_of(), when there is something to look at. */
uint32_t spi_tree_thread_look(struct spi_thread *t);
/* May words.S record this thread's calls? To be asked after its trees have changed. */
SPI_INLINE void spi_tree_words_look(struct spi_thread *t)
{
	t->words_epoch = t->words && !(t->tree & spi_tree_limited) ? t->tree_epoch : 0;
}
/* The trees of the calling thread. */
SPI_INLINE uint32_t spi_tree_of(struct spi_thread *t)
{
	if (spi_unlikely(t->tree_epoch != spi_tree_epoch))
		return spi_tree_thread_look(t);
	return t->tree;
}
/* A callee is about to run: its sites into place. Returns the trees of `trees` that record it. Under the patch lock. */
uint32_t spi_tree_enter(uint64_t callee, uint32_t trees, int *is_known);
uint32_t spi_tree_limit(struct spi_thread *t, uint32_t trees);
/* The trees that a call is in: those of its thread whose depth is not reached. */
SPI_INLINE uint32_t spi_tree_within(struct spi_thread *t)
{
	uint32_t trees = spi_tree_of(t);

	return spi_unlikely(trees & spi_tree_limited) ? spi_tree_limit(t, trees) : trees;
}
int spi_tree_bind(struct spi_point *point);	/* payload, if it has none, under the patch lock. 0 or -errno */

void spi_tree_base_set(struct spi_thread *t, uint32_t tree);	/* depth counts from here */
/* ---- tracer-calls.c ---- */
SPI_INLINE int spi_tree_is_agent(uint64_t address)
{
	extern const uint8_t __ehdr_start[] SPI_HIDDEN, _end[] SPI_HIDDEN;

	return address >= (uint64_t) __ehdr_start && address < (uint64_t) _end;
}
/* 1: the callee is the tracer's, and what it calls is not recorded. Under the patch lock. */
int spi_tree_tracer_take(struct spi_point *point, uint64_t callee, uint32_t trees);

/* ---- root.c: struct spi_tree_calls ---- */
uint64_t spi_entry_call(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
void spi_pair_exit(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
void spi_pair_left(struct spi_slot *slot, enum spi_left how);

/* ---- outside.c ---- */
/* A function that somebody outside of the tree will call: a handler, a thread's start. Any thread. */
void spi_tree_callback(uint64_t address);
void spi_tree_callback_make(uint64_t address);	/* the same, control side: where something may be asked, and int3 may be */
/* Handlers that were installed while a thread forked; control side. */
void spi_tree_callbacks_take(void);
/* thread-made.c: a thread that is about to be made is to be in these trees from its start on. 0: start and arg are replaced for that; any thread */
int spi_thread_make(uint64_t *start, uint64_t *arg, uint32_t trees);
void spi_thread_made_fork_child(void);
/*
 * A site calls code that is in no object of a tree's. 1: it leads to a function, whose calls are recorded at its entry from now on;
 * the same memory may lead to another function at the site's next call. 0: nothing is known of the code, and the site is named
 * unless the code is another object's. Under the patch lock.
 */
int spi_tree_made_enter(const struct spi_site *s, uint64_t code, uint32_t trees);
void spi_tree_caller_back(uint64_t address);
void spi_tree_handlers_look(void);
/* Where main() is, by the program's first instructions; 0: not to be seen. */
uint64_t spi_tree_find_main(void);

/* ---- rule.c ---- */
struct spi_rule_ops;
extern const struct spi_rule_ops spi_tree_ops SPI_HIDDEN;	/* what is done for rules of this kind */

/* ---- told.c ---- */
void spi_tree_process_end(void);
void spi_tree_tag_set(uint32_t index, const char *tag);

#endif /* SPI_TREE_H */
