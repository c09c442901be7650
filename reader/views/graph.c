/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The call graph: of the whole trace from the top down, or of one function, its callers above and its callees below.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/views/views.h"
#include "rules/glob.h"

#define DEEPEST	60u

/* ---- one tree ---- */

static void node_write(const struct path *node, uint32_t depth, FILE *out)
{
	char total[32], self[32], place[600];

	duration_text(node->total, total);
	duration_text(node->self, self);
	fprintf(out, "%10s %10s %10" PRIu64 "  ", total, self, node->calls);
	if (depth > DEEPEST)
		fprintf(out, "%*s(%u) ", (int) (2 * DEEPEST), "", depth);
	else
		fprintf(out, "%*s", (int) (2 * depth), "");
	fprintf(out, "%s%s%s", colour_begin(COLOUR_FUNCTION), node->function->name, colour_end(COLOUR_FUNCTION));
	if (node->function->file)
		fprintf(out, "%s%s%s", colour_begin(COLOUR_DIM), call_function_place(node->function, place, sizeof(place)),
			colour_end(COLOUR_DIM));
	if (*node->function->object)
		fprintf(out, " %s[%s]%s", colour_begin(COLOUR_DIM), node->function->object, colour_end(COLOUR_DIM));
	putc('\n', out);
}

static void tree_write(const struct path *top, FILE *out)
{
	uint32_t depth = 0;

	for (const struct path *node = top->child; node; ) {
		node_write(node, depth, out);
		if (node->child) {
			node = node->child;
			depth++;
			continue;
		}
		while (node != top && !node->next) {
			node = node->parent;
			depth--;
		}
		node = node == top ? NULL : node->next;
	}
}

static void tree_json(const struct path *top, FILE *out)
{
	const struct path *node = top->child;
	const char *between = "";

	putc('[', out);
	while (node) {
		fprintf(out, "%s\n{\"function\":", between);
		json_string(out, node->function->name);
		if (*node->function->object) {
			fputs(",\"object\":", out);
			json_string(out, node->function->object);
		}
		function_place_json(node->function, out);
		fprintf(out, ",\"calls\":%" PRIu64 ",\"total\":%" PRId64 ",\"self\":%" PRId64 ",\"children\":[", node->calls,
			node->total, node->self);
		between = "";
		if (node->child) {
			node = node->child;
			continue;
		}
		fputs("]}", out);
		between = ",";
		while (node != top && !node->next) {
			node = node->parent;
			if (node != top)
				fputs("]}", out);
		}
		node = node == top ? NULL : node->next;
	}
	putc(']', out);
}

/* ---- of one function ---- */

static int is_named(const struct path *node, const char *pattern)
{
	return node->function && spi_glob_match(pattern, node->function->name);
}

static int add(struct path *to, const struct path *from, int is_total)
{
	if (!to)
		return -ENOMEM;
	to->calls += from->calls;
	to->self += from->self;
	if (is_total)
		to->total += from->total;
	return 0;
}

/* A copy of what is below `from`, added to what is below `to`. */
static int below_add(struct paths *p, struct path *to, const struct path *from)
{
	int r = 0;

	for (const struct path *child = from->child; r == 0 && child; child = child->next) {
		struct path *node = path_below(p, to, child->function);

		r = add(node, child, 1);
		if (r == 0)
			r = below_add(p, node, child);
	}
	return r;
}

/*
 * The function's callers, the direct ones first: with what they spent in it. Within itself it has no time of its own.
 */
static int above_add(struct paths *p, const struct path *node, const char *pattern)
{
	struct path *to = path_below(p, &p->top, node->function);
	struct path value = *node;
	int is_outermost = 1, r;

	for (const struct path *up = node->parent; up && up->function; up = up->parent)
		is_outermost &= !is_named(up, pattern);
	r = add(to, node, is_outermost);
	for (const struct path *up = node->parent; r == 0 && up && up->function; up = up->parent) {
		to = path_below(p, to, up->function);
		value.self = 0;
		r = add(to, &value, 1);
	}
	return r;
}

static int function_graphs(const struct paths *all, const char *pattern, struct paths *above, struct paths *below)
{
	int r = 0, found = 0;

	for (const struct path *node = all->top.child; r == 0 && node; node = path_next(node, &all->top)) {
		int is_outermost = 1;
		struct path *to;

		if (!is_named(node, pattern))
			continue;
		found = 1;
		r = above_add(above, node, pattern);
		for (const struct path *up = node->parent; up && up->function; up = up->parent)
			is_outermost &= !is_named(up, pattern);
		if (r < 0 || !is_outermost)
			continue;
		to = path_below(below, &below->top, node->function);
		r = add(to, node, 1);
		if (r == 0)
			r = below_add(below, to, node);
	}
	return r < 0 ? r : found;
}

int graph_write(struct paths *all, const char *function, enum format format, FILE *out)
{
	struct paths *above, *below;
	int r;

	paths_tell(all);
	if (!function) {
		paths_sort(all);
		if (format == FORMAT_JSON) {
			tree_json(&all->top, out);
			putc('\n', out);
		} else {
			fprintf(out, "%s%10s %10s %10s  function%s\n", colour_begin(COLOUR_HEAD), "total", "self", "calls",
				colour_end(COLOUR_HEAD));
			tree_write(&all->top, out);
		}
		return output_status(out);
	}
	above = paths_make();
	below = paths_make();
	r = above && below ? function_graphs(all, function, above, below) : -ENOMEM;
	if (r > 0) {
		paths_sort(above);
		paths_sort(below);
		if (format == FORMAT_JSON) {
			fputs("{\"callers\":", out);
			tree_json(&above->top, out);
			fputs(",\n\"callees\":", out);
			tree_json(&below->top, out);
			fputs("}\n", out);
		} else {
			fprintf(out, "%s%10s %10s %10s  function, and its callers below it%s\n", colour_begin(COLOUR_HEAD), "total",
				"self", "calls", colour_end(COLOUR_HEAD));
			tree_write(&above->top, out);
			fprintf(out, "\n%s%10s %10s %10s  function, and what it calls%s\n", colour_begin(COLOUR_HEAD), "total", "self",
				"calls", colour_end(COLOUR_HEAD));
			tree_write(&below->top, out);
		}
	}
	paths_free(above);
	paths_free(below);
	return r < 0 ? r : output_status(out) < 0 ? output_status(out) : r > 0 ? 0 : -ENOENT;
}

/* ---- folded stacks ---- */

/* A ';' stands between functions, so none is in a name. */
static void folded_name(const char *name, FILE *out)
{
	for (; *name; name++)
		putc(*name == ';' ? ':' : *name, out);
}

static void folded_above(const struct path *node, FILE *out)
{
	if (!node->function)
		return;
	folded_above(node->parent, out);
	if (node->parent->function)
		putc(';', out);
	folded_name(node->function->name, out);
}

int folded_write(struct paths *paths, FILE *out)
{
	paths_tell(paths);
	for (const struct path *node = paths->top.child; node; node = path_next(node, &paths->top)) {
		if (node->self <= 0)
			continue;
		folded_above(node, out);
		fprintf(out, " %" PRId64 "\n", node->self);
	}
	return output_status(out);
}
