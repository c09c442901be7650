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
	uint64_t calls, ns;		/* since the last table */
	double seconds;			/* so long they were counted */
	double rate_seen;		/* calls a second, when counting them was given up */
	int is_counted, is_wanted, is_hot, is_excluded;
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
	int is_counting, is_gone;
	/* what it said */
	struct top_row **rows;
	uint32_t count, room;
	struct top_object *objects;
	double samples;
	uint64_t wall_ns, cpu_ns;	/* since the last table */
	uint64_t calls_now;		/* in this interval of the payload's */
	char error[512];
	/* the screen */
	unsigned int chosen, shown;
	int is_paused;
};

/* 0, or -1 after a line was said. */
int top_begin(struct top *t);
void top_end(struct top *t);
/* Lines that have come: 0, or -1: the process is over, or cannot be looked at: t->error. */
int top_read(struct top *t);
/* Older samples count less from now on; counts begin anew. */
void top_decay(struct top *t);
/* Which functions' calls are counted from now on. */
void top_choose(struct top *t);
void top_sort(struct top *t);
void top_child_begin(struct top *t);
void top_child_end(struct top *t);
/* The function as `lttng trace -f` takes it. */
void top_pattern(const struct top_row *row, char *text, size_t size);
/* `lttng trace` of a function, for three seconds, to our stdout. */
void top_trace(struct top *t, const char *function);

#endif /* SPI_READER_TOP_H */
