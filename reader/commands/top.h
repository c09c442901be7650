/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The process that is looked at, and what is known of its functions. */
#ifndef SPI_READER_TOP_H
#define SPI_READER_TOP_H

#include <stdint.h>
#include <sys/types.h>

struct top_row {
	char *name, *object;
	double samples;			/* older ones count less */
	double kernel;			/* of them, in system calls */
	uint64_t calls, open_ns;	/* since the last table: calls, and in so much time */
	uint64_t ended, ns;		/* likewise: calls that ended, and the time in them */
	double rate;			/* calls a second, when they were counted last */
	int is_counted, is_wanted, is_excluded;
	int is_given_up;		/* counting its calls would take too much, or cannot be */
};

struct top {
	int pid;
	char name[64];
	int64_t interval_ms;
	uint32_t limit;			/* rows shown */
	int has_no_calls;
	/* the child that has the payload in the process */
	pid_t child;
	unsigned int children;		/* begun so far */
	int from;			/* its lines */
	char line[65536];
	size_t used;
	int64_t choose_ms;		/* when it may get other functions to count; so often it has */
	unsigned int choices;
	/* what it said */
	struct top_row **rows;
	uint32_t count, room;
	struct top_object *objects;
	double samples, tracing;	/* of the process's own code, and of the tracer's */
	uint64_t child_samples, child_tracing;	/* since the child began */
	uint64_t wall_ns, cpu_ns, lost, sampled;	/* since the last table */
	int is_old;			/* all of this is in a table; what comes begins anew */
	char error[512];
	/* the screen */
	struct top_row *chosen;		/* NULL: the first one */
	int is_paused;
};

/* 0, or -1 after a line was said. */
int top_begin(struct top *t);
void top_end(struct top *t);
/* Lines that have come: 0, or -1: the process is over, or cannot be looked at: t->error. */
int top_read(struct top *t);
/* Older samples count less from now on; counts begin anew. */
void top_decay(struct top *t);
/* Which functions' calls are counted from now on, if others than so far. */
void top_choose(struct top *t);
void top_sort(struct top *t);
int64_t now_ms(void);

/* ---- top-child.c ---- */
#define TOP_COUNTED_MOST	8u		/* functions at a time */
/* It counts the calls of rows that are wanted, which are marked. t->child 0: it could not be, t->error says why. */
void top_child_begin(struct top *t);
void top_child_end(struct top *t);
void top_child_anew(struct top *t);
/* The function as `lttng trace -f` takes it. */
void top_pattern(const struct top_row *row, char *text, size_t size);
/* `lttng trace` of a function, for three seconds, to our stdout. */
void top_trace(struct top *t, const char *function);

#endif /* SPI_READER_TOP_H */
