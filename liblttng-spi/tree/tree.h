/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room tree: call trees. When a site is reached for the first time, its callee's sites are patched, before the callee
 * runs, by the thread that is about to run it: tracing moves ahead of the control flow, nothing is missed, and what never
 * runs is never touched.
 *
 * Several trees may be in force. Each has a bit; a thread has a mask of the trees that it is in (spi_thread.tree), a site
 * those that record it (tree_live) and those that have not looked at its callee yet (tree_todo), a function those whose
 * sites in it are in place and those that leave it out.
 *
 * Who may race whom: everything is changed under the patch lock, by any thread, in the program's state whatever it is;
 * the path of a call reads masks, payload and children without it. Nothing is ever freed.
 */
#ifndef SPI_TREE_H
#define SPI_TREE_H

#include <stdint.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/rules/rules.h"

struct spi_function_told;
struct spi_map;
struct spi_rule;

struct spi_tree {
	struct spi_tree *next;
	struct rule *rule;
	const struct spi_rule *asked;	/* what the rule's text says */
	uint32_t bit, index, enabled;
	uint32_t follow;		/* SPI_FOLLOW_* */
	uint32_t matched, roots, declined;
	uint32_t is_outside;		/* its root, main(), is in an object that it leaves out */
	uint32_t has_handed_over;	/* its functions that are handed over have entry points. outside.c */
	uint32_t has_detail;		/* a client has asked for SPI_AGENT_DETAIL */
	uint32_t waits;			/* to begin: until `due`, or until the signal or the message comes */
	uint32_t lacks_root;		/* it came with a message, and the program has no such function: main() is the root */
	uint64_t due;			/* ns of spi_now_ns(); 0: no time */
	char why[200];			/* the first root that could not be had */
};

/* ---- told.c ---- */
const char *spi_tree_tags(uint32_t trees);	/* for a call that these trees record; any thread. tree/told.c */
void spi_tree_process_end(void);

/* ---- propel.c ---- */
uint32_t spi_tree_of_caller(void);	/* the trees that the calling thread is in; 0 if it is the tracer's. Any thread, any state */

/* ---- functions.c: what the trace is told of functions ---- */
int spi_function_of(const struct spi_point *point, struct spi_function_told *function);
void spi_functions_ask(void);
void spi_functions_say(void);		/* what was asked for; under the control lock */
void spi_functions_child_begins(void);

/* ---- propel.c ---- */
/* The callee's sites into place for these trees: any thread, signals as they are. 0, -ENOTSUP, or -EAGAIN: another thread forks. */
int spi_tree_propel(uint64_t callee, uint32_t trees);
/* The same of these call instructions alone, beside those that are in place. -ENOENT: one is none of the callee's. */
int spi_tree_propel_calls(uint64_t callee, uint32_t trees, const uint64_t *addresses, size_t count);

/* ---- objects.c ---- */
void spi_tree_objects_look(void);	/* after a scan, when something was unloaded */

/* ---- outside.c ---- */
/* A function that somebody outside of the tree will call: a handler, a thread's start. Any thread. */
void spi_tree_callback(uint64_t address);
/* Any thread: the function that this code belongs to calls others of the program's, and nobody in a tree calls it. */
void spi_tree_caller_back(uint64_t address);

/* ---- thread-made.c ---- */
void spi_thread_made_fork_child(void);

/* ---- rule.c ---- */
extern const struct spi_rule_ops spi_tree_ops SPI_HIDDEN;	/* what is done for rules of this kind */
void spi_tree_starts_take(struct spi_link *link);	/* begin what is due */

/* ---- options.c ---- */
size_t spi_tree_name_size(const char *pretty);	/* bytes before the parameters */

/* ---- list.c ---- */
extern struct spi_tree *spi_trees SPI_HIDDEN;

/* ---- stacks.c ---- */
/* The calling thread's stack is looked at from here up: what is below loads a payload. 0: all of it. Control side. */
extern uint64_t spi_tree_stack_from SPI_HIDDEN;
/* Functions that were on some thread's stack as one of these trees began: their addresses, so many. Any thread. */
uint32_t spi_tree_stack_functions(uint32_t trees, uint64_t *addresses, uint32_t room);
int spi_tree_main_begun(void);		/* is main() on the first thread's stack? Control side */
int spi_tree_main_runs(void);		/* 1: main() has begun; 0: not, or that is not known. Control side */

/* ---- start.c ---- */
int64_t spi_tree_starts_wait(void);	/* ms until the next one is due by its time; -1: none is */
/* Trees that wait for a message, and whose message has come. Returns when they have begun, or after two seconds. Any thread of the program. */
void spi_tree_message_came(uint32_t trees);

/* ---- roots.c ---- */
int spi_tree_root_is_main(const struct spi_tree *tree);

/* ---- follow.c ---- */
void spi_tree_loads_take(struct spi_link *link);

#endif /* SPI_TREE_H */
