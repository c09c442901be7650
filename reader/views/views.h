/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a person looks at, each made of the one stream of calls (reader/calls/calls.h). A view is made, is given each
 * call, and is written and freed at the end. take() gives 0, or a negative errno: -EPIPE when whoever reads has gone.
 */
#ifndef SPI_READER_VIEWS_H
#define SPI_READER_VIEWS_H

#include "reader/calls/calls.h"
#include "reader/views/wholes.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

/* ---- calls.c: a line a call, as they come ---- */
struct calls_view *calls_view_make(FILE *out, enum format format);
int calls_view_take(void *view, const struct call *call);
/* Lines that wait for what comes next go out: nothing comes for a while, or ever. */
int calls_view_flush(struct calls_view *view);
int calls_view_idle(void *view);	/* the same, and to the reader at once */
void calls_view_free(struct calls_view *view);

/* ---- report.c: a table of functions ---- */
enum report_by { BY_FUNCTION, BY_OBJECT, BY_THREAD, BY_PROCESS, BY_CALLER };
enum report_sort { SORT_TOTAL, SORT_SELF, SORT_CALLS, SORT_AVERAGE, SORT_MIN, SORT_MAX, SORT_P50, SORT_P99, SORT_NAME };

struct report *report_make(enum report_by by);
/* CSV gets columns for source lines; text and JSON have the lines that functions have. */
void report_lines(struct report *report);
int report_take(void *report, const struct call *call);
/*
 * limit: rows, 0 all. other: what was before, for a table of the changes since then, in order of the change; NULL: no
 * comparison. Changes are sorted by SORT_TOTAL, SELF, CALLS, AVERAGE or NAME.
 */
int report_write(struct report *report, struct report *other, enum report_sort sort, uint32_t limit,
	enum format format, FILE *out);
void report_free(struct report *report);
/* BY_..., SORT_..., or -1 */
int report_by_read(const char *name);
int report_sort_read(const char *name);

/* ---- paths.c: which function called which, over all threads, as one tree ---- */
struct path {
	struct path *parent, *child, *next;	/* next: of the same parent */
	struct call_function *function;		/* NULL: the top */
	uint64_t calls;
	int64_t total, self;			/* ns */
	struct path *by_hash;
	uint32_t number, depth;
};
struct paths {
	struct path top;
	struct path **table;		/* by parent and function */
	uint64_t size, count;
	uint64_t beyond;		/* calls without a node */
	struct wholes wholes;		/* until paths_end() */
	struct path **nodes;		/* of whole calls that are open, while these are given */
	uint32_t node_room;
};
struct paths *paths_make(void);
int paths_take(void *paths, const struct call *call);
/* All calls were given. */
int paths_end(struct paths *paths);
void paths_tell(const struct paths *paths);	/* what has no node, on stderr */
void paths_free(struct paths *paths);
/* The node of a function below another one, made if there is none; `parent` where there is no room for one; NULL: no memory. */
struct path *path_below(struct paths *paths, struct path *parent, struct call_function *function);
/* The node after this one, parents before their children; NULL: it was the last below `top`. */
const struct path *path_next(const struct path *node, const struct path *top);
/* Children in order of total time, the largest first, everywhere. */
void paths_sort(struct paths *paths);

/* ---- graph.c: -ENOENT: no function has the name ---- */
int graph_write(struct paths *paths, const char *function, enum format format, FILE *out);
/* FUNCTION;CALLEE;... self time in ns, a line each, as flame graph tools read them. */
int folded_write(struct paths *paths, FILE *out);

#endif /* SPI_READER_VIEWS_H */
