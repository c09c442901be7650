/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Callgrind's format: each function's self time, and the calls from one function to another with the time in them.
 *
 * The time of calls within a call of the same function counts to the outermost call only, so the times on the ways into
 * a function add up to its total. What nothing recorded has called is called by "(top)": callgrind_annotate takes the
 * calls into a function for all of the function's time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/exports/export.h"

#define TOP	UINT32_MAX

struct edge {
	uint32_t from, to;		/* numbers of functions; from: TOP */
	uint64_t calls;
	int64_t total, self;		/* self: of `to` */
};

struct edges {
	struct edge *at;
	size_t count;
};

static int edge_compare(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->from != y->from ? (x->from < y->from ? -1 : 1) : x->to < y->to ? -1 : x->to > y->to;
}

/* Edges of the same two functions become one. */
static void edges_join(struct edges *e)
{
	size_t n = 0;

	if (e->count)
		qsort(e->at, e->count, sizeof(*e->at), edge_compare);
	for (size_t i = 0; i < e->count; i++) {
		if (!n || edge_compare(&e->at[n - 1], &e->at[i])) {
			e->at[n++] = e->at[i];
			continue;
		}
		e->at[n - 1].calls += e->at[i].calls;
		e->at[n - 1].total += e->at[i].total;
		e->at[n - 1].self += e->at[i].self;
	}
	e->count = n;
}

/* The tree, walked with how often each function is on the way: 0 or -ENOMEM. */
static int edges_make(struct edges *e, const struct paths *paths, uint32_t functions)
{
	uint32_t *open = calloc(functions + 1, sizeof(*open));
	const struct path *node = paths->top.child;

	e->at = calloc(paths->count + 1, sizeof(*e->at));
	while (open && e->at && node) {
		const uint32_t number = node->function->number;

		e->at[e->count++] = (struct edge) { node->parent->function ? node->parent->function->number : TOP, number,
			node->calls, open[number] || node->total < 0 ? 0 : node->total, node->self < 0 ? 0 : node->self };
		if (node->child) {
			open[number]++;
			node = node->child;
			continue;
		}
		while (node != &paths->top && !node->next) {
			node = node->parent;
			if (node->function)
				open[node->function->number]--;
		}
		node = node == &paths->top ? NULL : node->next;
	}
	free(open);
	if (!open || !e->at)
		return -ENOMEM;
	edges_join(e);
	return 0;
}

/* ---- text ---- */

/* Objects, files and functions have numbers from 1 on; the first line with a number has the name as well. */
struct paths_written {
	const char **at;
	uint32_t count, room;
};
struct names {
	struct paths_written objects, files;
	uint8_t *is_written;		/* functions, by number */
};

static int path_put(struct paths_written *n, const char *key, const char *path, FILE *out)
{
	const char *name = path && *path ? path : "???";
	uint32_t i = 0;

	while (i < n->count && strcmp(n->at[i], name))
		i++;
	if (i < n->count) {
		fprintf(out, "%s=(%u)\n", key, i + 1);
		return 0;
	}
	if (n->count == n->room) {
		const char **more = realloc(n->at, (n->room ? n->room * 2 : 64) * sizeof(*more));

		if (!more)
			return -ENOMEM;
		n->at = more;
		n->room = n->room ? n->room * 2 : 64;
	}
	n->at[n->count++] = name;
	fprintf(out, "%s=(%u) %s\n", key, n->count, name);
	return 0;
}

static void function_put(struct names *n, const char *key, const struct call_function *f, FILE *out)
{
	if (n->is_written[f->number])
		fprintf(out, "%s=(%u)\n", key, f->number + 2);
	else
		fprintf(out, "%s=(%u) %s\n", key, f->number + 2, f->name);
	n->is_written[f->number] = 1;
}

/* line: of the caller. */
static int edge_put(struct names *n, const struct edge *e, uint32_t line, const struct calls *calls, FILE *out)
{
	const struct call_function *to = calls->function_list[e->to];

	if (path_put(&n->objects, "cob", to->path, out) < 0 || path_put(&n->files, "cfi", to->file, out) < 0)
		return -ENOMEM;
	function_put(n, "cfn", to, out);
	fprintf(out, "calls=%" PRIu64 " %u\n%u %" PRId64 "\n", e->calls, to->line, line, e->total);
	return 0;
}

static int functions_put(struct names *n, const struct edges *e, const int64_t *self, const struct calls *calls,
	FILE *out)
{
	size_t at = 0;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < calls->function_count; i++) {
		const struct call_function *f = calls->function_list[i];

		if (self[i] < 0)
			continue;	/* no call of it is shown */
		putc('\n', out);
		r = path_put(&n->objects, "ob", f->path, out);
		if (r == 0)
			r = path_put(&n->files, "fl", f->file, out);
		function_put(n, "fn", f, out);
		fprintf(out, "%u %" PRId64 "\n", f->line, self[i]);
		for (; r == 0 && at < e->count && e->at[at].from == i; at++)
			r = edge_put(n, &e->at[at], f->line, calls, out);
	}
	if (r == 0 && at < e->count) {
		putc('\n', out);
		r = path_put(&n->objects, "ob", NULL, out);
		if (r == 0)
			r = path_put(&n->files, "fl", NULL, out);
		fputs("fn=(1) (top)\n0 0\n", out);
	}
	for (; r == 0 && at < e->count; at++)
		r = edge_put(n, &e->at[at], 0, calls, out);
	return r;
}

int callgrind_write(const struct paths *paths, const struct calls *calls, const char *name, FILE *out)
{
	struct edges edges = { .at = NULL };
	struct names names = { .is_written = calloc(calls->function_count + 1, 1) };
	int64_t *self = malloc((calls->function_count + 1) * sizeof(*self)), all = 0;
	int r = self && names.is_written ? edges_make(&edges, paths, calls->function_count) : -ENOMEM;

	paths_tell(paths);
	if (r == 0) {
		memset(self, 0xff, (calls->function_count + 1) * sizeof(*self));
		for (size_t i = 0; i < edges.count; i++) {
			int64_t *of = &self[edges.at[i].to];

			*of = (*of < 0 ? 0 : *of) + edges.at[i].self;
			all += edges.at[i].self;
		}
		fputs("# callgrind format\nversion: 1\ncreator: lttng-spi\ncmd: ", out);
		for (; *name; name++)
			putc((unsigned char) *name < 0x20 ? '?' : *name, out);
		fprintf(out, "\npositions: line\nevent: ns : Time in ns\nevents: ns\nsummary: %" PRId64 "\n", all);
		r = functions_put(&names, &edges, self, calls, out);
	}
	free(edges.at);
	free(names.objects.at);
	free(names.files.at);
	free(names.is_written);
	free(self);
	return r < 0 ? r : output_status(out);
}
