/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files tree-*.c share: a tree as its rule asks for it. Control side, under the control lock. */
#ifndef SPI_TREE_RULE_H
#define SPI_TREE_RULE_H

#include "liblttng-spi/tree/tree.h"

struct spi_tree {
	struct spi_tree *next;
	struct rule *rule;
	const struct spi_rule *asked;	/* what the rule's text says */
	uint32_t bit, index, enabled;
	uint32_t follow;		/* SPI_FOLLOW_* */
	uint32_t matched, roots, declined;
	uint32_t is_outside;		/* its root, main(), is in an object that it leaves out */
	uint32_t waits;			/* to begin: until `due`, or until the signal comes */
	uint64_t due;			/* ns of spi_now_ns(); 0: no time */
	char why[200];			/* the first root that could not be had */
};

/* ---- list.c ---- */
extern struct spi_tree *spi_trees SPI_HIDDEN;
int spi_tree_list_add(struct spi_tree *tree);		/* gives it a bit; -ENOSPC: there are too many */
void spi_tree_list_remove(const struct spi_tree *tree);
/* The least budget of the trees in force, and of this one; 0: none has a budget. */
uint32_t spi_tree_budget_least(const struct spi_tree *and);

/* ---- options.c ---- */
/* Does the glob mean this function, by its linkage name, or its qualified one with or without parameters? */
int spi_tree_glob_means(const char *glob, const struct spi_tree_object *to, uint64_t i);
size_t spi_tree_name_size(const char *pretty);		/* bytes before the parameters */
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
int spi_tree_root_is_main(const struct spi_tree *tree);
int spi_tree_take_main(struct spi_tree *tree, struct spi_link *link);	/* -ENOENT: there is none */
void spi_tree_take_roots(struct spi_tree *tree, struct spi_link *link);
/* Programs in which nothing is found to begin with; a function that somebody names may just not be in them. */
void spi_tree_main_missing(struct spi_tree *tree);
void spi_tree_outside_take(const struct spi_tree *tree);	/* of objects that have come */
/* The object has been loaded since the tree began: the tree may begin there, too. */
void spi_tree_take_loaded(struct spi_tree *tree, struct spi_link *link, struct spi_object *object);
/* ---- rules/rule.c ---- */
int spi_program_is_named(const char *pattern);	/* by other names than its file's */

/* ---- start.c ---- */
/* 1: the tree is to begin later, and will be by spi_tree_starts_take(). 0: now. -ENOTSUP: tree->why. */
int spi_tree_start_later(struct spi_tree *tree, struct spi_link *link);
int spi_tree_start_is_due(const struct spi_tree *tree);
void spi_tree_start_cancel(struct spi_tree *tree);
int64_t spi_tree_starts_wait(void);	/* ms until the next one is due by its time; -1: none is */
void spi_tree_start_thread(void);	/* where there is no controller: a thread that does what the control thread would */

/* ---- rule.c ---- */
void spi_tree_handed_over_take(const struct spi_tree *tree);	/* outside.c */
void spi_tree_starts_take(struct spi_link *link);	/* begin what is due */

/* ---- follow.c ---- */
/* Functions that may be on some thread's stack now: their sites into place. Returns how many. */
uint32_t spi_tree_stacks_look(uint32_t tree);
/* Every other thread waits in the kernel or has run since, and none was interrupted by a signal within spare bytes. */
int spi_tree_nobody_is_in_pads(void);
int spi_tree_main_begun(void);		/* is main() on the first thread's stack? */
void spi_tree_follow_start(struct spi_tree *tree);
void spi_tree_follow_stop(void);
void spi_tree_loads_follow(void);	/* a thread of the program, which may wait */
void spi_tree_loads_take(struct spi_link *link);

/* ---- load-watch.c ---- */
const struct spi_map *spi_tree_map_of_libc(void);	/* control side; NULL: no tree goes into libc */
void spi_tree_loads_watch(int install);	/* control side: the dynamic linker's own word of what it loads */
void spi_tree_ends_look(int all);	/* constructors and destructors of objects that have come; all: of every object */
void spi_tree_apart_tell(struct spi_link *link);	/* control side: what is in other namespaces */

#endif /* SPI_TREE_RULE_H */
