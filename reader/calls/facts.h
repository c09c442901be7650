/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a trace says beside its calls: where it was recorded, programs, objects with their build-ids, how many events of
 * which kind, and what was lost. All texts are a terminal's to print: none has control characters.
 */
#ifndef SPI_READER_FACTS_H
#define SPI_READER_FACTS_H

#include "reader/calls/calls.h"

struct fact_trace {
	struct fact_trace *next;
	const bt_trace *trace;
	char host[128], session[256], tracer[64], buffering[16], created[32];
};

/* A program that a process executes, and an object that it has. */
struct fact_program {
	struct fact_program *next;
	const bt_trace *trace;
	int64_t pid;
	char path[];
};

struct fact_object {
	struct fact_object *next;
	uint64_t begin;			/* of its build-id, as struct object has it; 0: none is known */
	char build_id[84];		/* hexadecimal; "": not known */
	char path[];
};

struct fact_channel {
	struct fact_channel *next;
	uint64_t events, packets;	/* that LTTng discarded */
	uint64_t times;			/* with a number or without */
	char name[];
};

/* A function that a budget left out of a tree. */
struct fact_left_out {
	struct fact_left_out *next;
	uint32_t budget;		/* % */
	int is_out;			/* 0: it was recorded again by the end */
	char name[];
};

/* A rule that was in force in a process. */
struct fact_rule {
	struct fact_rule *next;
	const bt_trace *trace;
	int64_t pid;			/* -1: not known */
	uint64_t instrumented, declined;	/* functions; of a tree: those that it begins with */
	int is_tree;
	char text[];
};

enum fact_kind { FACT_TYPED, FACT_WHOLE, FACT_TREE, FACT_BATCH, FACT_MESSAGE, FACT_OTHER, FACT_KINDS };

struct facts {
	struct calls *calls;
	struct fact_trace *traces;
	struct fact_program *programs;
	struct fact_object *objects;
	struct fact_channel *channels;
	struct fact_left_out *left_out;
	struct fact_loaded *loaded;
	struct fact_rule *rules;
	uint64_t events[FACT_KINDS];
	uint64_t never_out;		/* of these: events that calls.c counts in another way */
	int is_starting;		/* a state dump has begun: its first object that is no library is the program */
	int64_t first, last;		/* ns; first > last: no time is known */
};

void facts_init(struct facts *facts, struct calls *calls);
/* A message of the trace, before the calls get it: 0 or -ENOMEM. The reference stays the caller's. */
int facts_see(void *facts, const bt_message *message);
void facts_free(struct facts *facts);
/* Compact records, when all of the trace was read. */
uint64_t facts_records(const struct facts *facts);

#endif /* SPI_READER_FACTS_H */
