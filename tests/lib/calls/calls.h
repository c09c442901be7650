/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Reads call-tree traces: func_entry and func_exit events {addr, call_site}, of
 * whoever made them, and tells what they say.
 *
 *   read.c     a babeltrace2 graph; what it makes of each event is a struct call_record
 *   objects.c  which object lies where in which process; (function, call site) pairs and their counts
 *   threads.c  a stack a thread, popped as Trace Compass pops it; what does not fit
 *   main.c     options and output
 */
#ifndef CALLS_H
#define CALLS_H

#include <stdint.h>
#include <stdio.h>

enum call_kind {
	CALL_ENTRY,
	CALL_EXIT,
	CALL_START,  /* a process begins to tell its objects: also a new program in an old process */
	CALL_OBJECT, /* one that is there */
	CALL_LOAD,   /* one that comes */
	CALL_UNLOAD,
	CALL_LOST, /* `addr` events were discarded */
};

struct call_record {
	enum call_kind kind;
	int has_addr; /* an exit need not have one */
	int vpid, vtid;
	uint64_t time;
	uint64_t addr, site; /* of an object: its base and its size */
	const char *path;
};

/* read.c: calls `take` for each record in the order of time; 0, or -1 and a message on stderr */
int calls_read(const char *directory, const char *plugins, void (*take)(const struct call_record *record));

/* objects.c */
void objects_start(int vpid);
void objects_add(int vpid, uint64_t base, uint64_t size, const char *path, int replaces);
void objects_remove(int vpid, uint64_t base);
uint32_t pair_count(int vpid, uint64_t addr, uint64_t site); /* one more call; the pair's id */
uint64_t pair_addr(uint32_t id);
uint64_t pair_site(uint32_t id);
int pair_name(uint32_t id, char *text, size_t size); /* PATH+0xOFFSET<tab>PATH+0xOFFSET */
void pairs_print(FILE *out, int with_sites);	     /* lines COUNT<tab>FUNCTION[<tab>CALL SITE] */

/* threads.c */
struct call_totals {
	uint64_t entries, exits;
	uint64_t orphans; /* exits on an empty stack */
	uint64_t crossed; /* exits of another function than the innermost one */
	uint64_t sites;	  /* exits of the innermost function, but of another call of it */
	uint64_t clock;	  /* events not later than the one before them in their thread */
	uint64_t open;	  /* calls without exit at the end */
	uint64_t threads, deepest;
};
void thread_entry(const struct call_record *record);
void thread_exit(const struct call_record *record);
void threads_total(struct call_totals *totals, const char *deadly); /* processes that ended in this function have open calls */
void threads_problems(FILE *out); /* the first few, with names */
void threads_keep(void);	  /* what threads_print() needs, 4 bytes an event */
void threads_print(FILE *out);	  /* a line `thread VPID VTID`, then `>` FUNCTION CALL SITE and `<` lines */
void threads_hash(FILE *out);	  /* a line a thread: hash of its lines, number of entries, first function */

#endif
