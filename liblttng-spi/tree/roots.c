/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The objects that a tree goes into, what it leaves out of them, and the functions that it begins with.
 *
 * Control side, under the control lock.
 */
#include <errno.h>
#include <string.h>
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/internal.h"

/* ---- what is left out ---- */

static void exclude_functions(const struct spi_tree *tree, struct spi_tree_object *to)
{
	const uint32_t clients = tree->rule->clients;
	const int is_watched = spi_clients_watch(clients);

	if (!tree->asked->exclude.count && !is_watched)
		return;
	for (uint32_t i = 0; i < to->map.head->funcs.count; i++) {
		const uint64_t address = spi_tree_map_func(to, i)->vaddr + to->object->bias;

		if (spi_tree_names_mean(&tree->asked->exclude, to, i) ||
				(is_watched && spi_clients_leave(clients, address)))
			to->funcs[i].excluded |= tree->bit;
	}
}

void spi_tree_calls_of(struct spi_tree *tree, struct spi_tree_object *to)
{
	for (uint32_t i = 0; tree->asked->calls_of.count && !to->gone && i < to->map.head->funcs.count; i++)
		if (spi_tree_names_mean(&tree->asked->calls_of, to, i)) {
			spi_sites_place_held(to, i, tree->bit);
			tree->matched++;
		}
}

/* ---- objects and roots ---- */

/*
 * ThreadSanitizer's runtime in the program itself (clang's way; gcc's is a library, spi_object_is_own()). A thread's first
 * call is its start routine then, before it is set up; and what records it runs through the runtime's functions.
 */
static int has_thread_sanitizer(const struct spi_object *object)
{
	return object->is_exe && spi_symbol_beside("__tsan_init", object->low);
}

struct spi_tree_object *spi_tree_take_object(struct spi_tree *tree, struct spi_link *link, struct spi_object *object)
{
	char error[400] = "it is built with ThreadSanitizer, whose runtime is a part of it; gcc's can be traced";
	struct spi_tree_object *to = NULL;

	if (!has_thread_sanitizer(object)) {
		error[0] = 0;
		to = spi_tree_object_get(link, object, tree->bit, error, sizeof(error));
	}
	if (!to) {
		spi_link_declined(link, object->name, "", error);
		object->refused |= tree->bit;
		tree->declined++;
		if (object->is_exe && !tree->why[0])
			spi_format(tree->why, sizeof(tree->why), "%s: %s", object->name, error);
		return NULL;
	}
	object->refused &= ~(uint64_t) tree->bit;
	if (tree->has_detail && spi_map_detail_get(link, object, error, sizeof(error)) < 0)
		spi_note("%s: blocks and source lines are not known: %s", object->name, error[0] ? error : "no memory");
	if (to->covered & tree->bit)
		return NULL;
	exclude_functions(tree, to);
	__atomic_fetch_or(&to->covered, tree->bit, __ATOMIC_RELEASE);
	return to;
}

/*
 * In an object that a tree goes into, with others around it left out: calls from these come by no site, so the functions
 * that others may call get entry points. A call from within is recorded at its site and not once more (root.c).
 */
void spi_tree_outside_take(const struct spi_tree *tree)
{
	uint32_t bit = tree->bit;

	if (!tree->asked->lib.count && !tree->is_outside)
		return;
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next) {
		if (to->gone || !(to->covered & bit) || (to->outside & bit))
			continue;
		to->outside |= bit;
		for (uint32_t i = 0; i < to->map.head->funcs.count; i++) {
			const struct spi_map_func *f = spi_tree_map_func(to, i);

			if ((f->flags & SPI_FUNC_FROM_OUTSIDE) && !(to->funcs[i].excluded & bit) && !spi_tree_func_unfit(to, i) &&
					!spi_tree_func_is_usual(to, i))
				spi_tree_callback_make(f->vaddr + to->object->bias);
		}
	}
}

static void take_root(struct spi_tree *tree, struct spi_link *link, struct spi_tree_object *to, uint64_t func)
{
	const char *reason = spi_tree_func_unfit(to, func);

	tree->matched++;
	if (!reason)
		reason = spi_tree_root_add(to, func, tree->bit);
	if (!reason) {
		tree->roots++;
		return;
	}
	tree->declined++;
	if (!tree->why[0])
		spi_format(tree->why, sizeof(tree->why), "%s", reason);
	spi_link_declined(link, to->object->name, spi_tree_func_name(to, func), reason);
}

static void take_roots_of(struct spi_tree *tree, struct spi_link *link, struct spi_tree_object *to)
{
	if (to->gone || !(to->covered & tree->bit) || !spi_rule_covers(tree->asked, to->object))
		return;
	for (uint32_t i = 0; i < to->map.head->funcs.count; i++)
		if (spi_tree_glob_means(tree->asked->function, to, i))
			take_root(tree, link, to, i);
}

void spi_tree_take_roots(struct spi_tree *tree, struct spi_link *link)
{
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		take_roots_of(tree, link, to);
}

int spi_tree_take_main(struct spi_tree *tree, struct spi_link *link)
{
	uint64_t address = spi_tree_find_main();
	struct spi_tree_object *to = address ? spi_tree_object_at(address) : NULL;
	int64_t func = to && (to->covered & tree->bit) ? spi_tree_func_at(to, address) : -1;

	if (func < 0) {
		/* the program itself is left out: there are threads, libraries and programs that it executes */
		const struct spi_object *exe = spi_objects_list();

		tree->is_outside = exe && !spi_tree_covers(tree, exe);
		return tree->is_outside ? 0 : -ENOENT;
	}
	/* Free Pascal's gives libc a function that pops its return address, and has another that is named main */
	if (spi_tree_func_unfit(to, (uint64_t) func) &&
			!spi_tree_glob_means(tree->asked->function, to, (uint64_t) func)) {
		spi_tree_take_roots(tree, link);
		if (tree->roots)
			return 0;
	}
	take_root(tree, link, to, (uint64_t) func);
	return 0;
}

void spi_tree_main_missing(struct spi_tree *tree)
{
	if (tree->is_outside || tree->matched || tree->why[0] || !spi_objects_list() || !spi_tree_covers(tree, spi_objects_list()))
		return;
	spi_format(tree->why, sizeof(tree->why), "%s: it has no main() %s", spi_objects_list()->name, spi_tree_find_main() ?
		"that is known: neither symbols nor unwind information tell where its functions begin" :
		"that libc calls, as programs in Go have none");
	if (spi_env.follow)
		spi_note("not followed: %s", tree->why);
}

/*
 * A tree that came with a message follows what becomes of the message. Where the program has no function of the root's
 * name, all that it does from then on is that.
 */
static int is_lacking(const struct spi_tree *tree)
{
	if (!tree->asked->on_message)
		return 0;
	for (const struct spi_tree_object *to = spi_tree_objects; to; to = to->next) {
		if (to->gone || !(to->covered & tree->bit) || !spi_rule_covers(tree->asked, to->object))
			continue;
		for (uint32_t i = 0; i < to->map.head->funcs.count; i++)
			if (spi_tree_glob_means(tree->asked->function, to, i))
				return 0;
	}
	return 1;
}

void spi_tree_root_find(struct spi_tree *tree)
{
	tree->lacks_root = tree->asked->function[0] && is_lacking(tree);
}

int spi_tree_root_is_main(const struct spi_tree *tree)
{
	return tree->lacks_root || (!tree->asked->object[0] && !tree->asked->function[0]) ||
		!strcmp(tree->asked->function, "main");
}

void spi_tree_take_loaded(struct spi_tree *tree, struct spi_link *link, struct spi_object *object)
{
	struct spi_tree_object *to = object->refused & tree->bit ? NULL : spi_tree_take_object(tree, link, object);

	if (!to || tree->asked->parse_only)
		return;
	spi_tree_calls_of(tree, to);
	if (!((spi_tree_everybody | spi_tree_flat) & tree->bit) && !spi_tree_root_is_main(tree))
		take_roots_of(tree, link, to);
}
