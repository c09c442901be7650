/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A rule `tree(ROOT;OPTION;...)`: the tree's beginning and end.
 *
 * Before the first call is redirected every object that the tree goes into has its
 * map. Then the functions that are left out are marked, the root's own sites put
 * in place, and its entry. From there on the tree moves by itself (propel.c).
 * At its end all its sites get the program's bytes back; calls under way keep
 * their return slots and their exits.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/budget.h"
#include "liblttng-spi/exec.h"
#include "liblttng-spi/ledger/ledger.h"
#include "liblttng-spi/steps.h"

struct spi_tree *spi_trees;

/* ---- what is left out ---- */

static void exclude_functions(const struct spi_tree *tree, struct spi_tree_object *to)
{
	for (uint32_t i = 0; tree->counts[SPI_LIST_EXCLUDE] && i < to->map.head->funcs.count; i++)
		if (spi_tree_func_matches(tree, SPI_LIST_EXCLUDE, to, i))
			to->funcs[i].excluded |= tree->bit;
}

struct calls_of {
	const struct spi_tree *tree;
	struct spi_tree_object *to;
	uint32_t func;
};

static void calls_held(void *data)
{
	const struct calls_of *of = data;
	uint64_t before = spi_patch_lock();

	if (!of->to->gone)
		spi_sites_place(of->to, of->func, of->tree->bit);
	spi_patch_unlock(before);
}

/* calls-of: the sites of these functions, and nothing behind them. */
static void calls_of_functions(struct spi_tree *tree, struct spi_tree_object *to)
{
	struct calls_of of = { .tree = tree, .to = to };

	for (; tree->counts[SPI_LIST_CALLS_OF] && !to->gone && of.func < to->map.head->funcs.count; of.func++)
		if (spi_tree_func_matches(tree, SPI_LIST_CALLS_OF, to, of.func)) {
			spi_objects_hold(calls_held, &of);
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

/*
 * An object that was there, or has just come, with all that the tree wants of it. NULL: it cannot be, or is had already. That
 * it cannot be is remembered: whatever the program loads next it would be asked for again, while who loads that waits.
 */
static struct spi_tree_object *take_object(struct spi_tree *tree, struct spi_link *link, struct spi_object *object)
{
	char error[400] = "it is built with ThreadSanitizer, whose runtime is a part of it; gcc's can be traced";
	struct spi_tree_object *to = NULL;

	if (!has_thread_sanitizer(object)) {
		error[0] = 0;
		to = spi_tree_object_get(link, object, (int) tree->compact, error, sizeof(error));
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

	if (!tree->counts[SPI_LIST_LIB] && !tree->is_outside)
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
	if (!reason && spi_tree_root_add(to, func, tree->bit, &reason) == 0) {
		tree->roots++;
		/* the program's own come after the agent's, its libraries' before */
		if (!(to->object->is_exe && !spi_tree_main_begun()) && spi_tree_func_is_constructor(to, func))
			spi_note("the root %s of %s is called when that is loaded, which was before tracing began",
				spi_tree_func_name(to, func), to->object->name);
		return;
	}
	tree->declined++;
	if (!tree->why[0])
		spi_format(tree->why, sizeof(tree->why), "%s", reason);
	spi_link_declined(link, to->object->name, spi_tree_func_name(to, func), reason);
}

static void take_roots_of(struct spi_tree *tree, struct spi_link *link, const struct spi_rule_text *text, struct spi_tree_object *to)
{
	if (to->gone || !(to->covered & tree->bit) || !spi_rule_covers(text, to->object))
		return;
	for (uint32_t i = 0; i < to->map.head->funcs.count; i++)
		if (spi_tree_glob_means(text->pattern, to, i))
			take_root(tree, link, to, i);
}

static void take_roots(struct spi_tree *tree, struct spi_link *link, const struct spi_rule_text *text)
{
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		take_roots_of(tree, link, text, to);
}

static int take_main(struct spi_tree *tree, struct spi_link *link, const struct spi_rule_text *text)
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
	if (spi_tree_func_unfit(to, (uint64_t) func) && !spi_tree_glob_means(text->pattern, to, (uint64_t) func)) {
		take_roots(tree, link, text);
		if (tree->roots)
			return 0;
	}
	take_root(tree, link, to, (uint64_t) func);
	return 0;
}

/* Programs in which nothing is found to begin with; a function that somebody names may just not be in them. */
static void main_missing(struct spi_tree *tree)
{
	if (tree->is_outside || tree->matched || tree->why[0] || !spi_objects_list() || !spi_tree_covers(tree, spi_objects_list()))
		return;
	spi_format(tree->why, sizeof(tree->why), "%s: it has no main() %s", spi_objects_list()->name, spi_tree_find_main() ?
		"that is known: neither symbols nor unwind information tell where its functions begin" :
		"that libc calls, as programs in Go have none");
	if (spi_env.follow)
		spi_note("not followed: %s", tree->why);
}

static int root_is_main(const struct spi_rule_text *text)
{
	return (!text->object[0] && !text->pattern[0]) || !strcmp(text->pattern, "main");
}

/* Which trees go along into programs that are executed. */
static void followed_say(void)
{
	char numbers[SPI_FOLLOW_MAX];
	int n = 0;

	numbers[0] = 0;
	for (const struct spi_tree *tree = spi_trees; tree && n < (int) sizeof(numbers) - 12; tree = tree->next)
		if (tree->enabled && tree->follow & SPI_FOLLOW_EXEC)
			n += spi_format(numbers + n, sizeof(numbers) - (size_t) n, "%s%u", n ? "+" : "", tree->rule->id);
	spi_exec_env_follow(numbers);
}

/* It has been loaded since the tree began: that may begin there, too. */
void spi_tree_take_loaded(struct spi_tree *tree, struct spi_link *link, struct spi_object *object)
{
	struct spi_tree_object *to = object->refused & tree->bit ? NULL : take_object(tree, link, object);

	if (!to || tree->parse_only)
		return;
	if (tree->budget)
		spi_budget_loaded(to, tree->index);
	calls_of_functions(tree, to);
	if (!((spi_tree_everybody | spi_tree_flat) & tree->bit) && !root_is_main(&tree->rule->text))
		take_roots_of(tree, link, &tree->rule->text, to);
}

/* ---- begin and end ---- */

static int tree_begin(struct spi_tree *tree, struct spi_link *link, const struct spi_rule_text *text)
{
	int everybody = tree->counts[SPI_LIST_CALLS_OF] != 0, is_main = root_is_main(text);
	uint32_t bit = tree->bit;

	spi_symbols_scan();
	for (struct spi_object *o = spi_objects_scan(); o; o = o->next)
		if (spi_tree_covers(tree, o))
			take_object(tree, link, o);
	if (tree->parse_only)
		return 0;
	if (is_main && spi_tree_main_begun())
		everybody = 1;
	__atomic_fetch_or(&spi_tree_existing, bit, __ATOMIC_SEQ_CST);
	if (!spi_may(SPI_MAY_GROW)) {
		__atomic_fetch_and(&spi_tree_existing, ~bit, __ATOMIC_SEQ_CST);
		spi_format(tree->why, sizeof(tree->why), "it runs in a seccomp sandbox that kills for system calls which a call tree needs");
		return -ENOTSUP;
	}
	spi_budget_start(tree);
	if (tree->counts[SPI_LIST_CALLS_OF])
		spi_tree_flat |= bit;
	if (tree->follow & SPI_FOLLOW_THREADS)
		spi_tree_threads |= bit;
	else
		spi_tree_threads &= ~bit;
	spi_tree_untagged = tree->tag[0] ? spi_tree_untagged & ~bit : spi_tree_untagged | bit;
	spi_tree_tag_set(tree->index, tree->tag);
	if (tree->depth) {
		spi_tree_depths[tree->index] = tree->depth;
		spi_tree_limited |= bit;
	}
	if (everybody)
		__atomic_fetch_or(&spi_tree_everybody, bit, __ATOMIC_RELEASE);
	else if (is_main && (tree->follow & SPI_FOLLOW_THREADS))
		__atomic_fetch_or(&spi_tree_others, bit, __ATOMIC_RELEASE);
	if (spi_tree_others & bit && !text->object[0] && !text->pattern[0])
		spi_tree_whole |= bit;
	__atomic_fetch_add(&spi_tree_epoch, 1, __ATOMIC_RELEASE);
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		if (to->covered & bit)
			calls_of_functions(tree, to);
	if (everybody && !tree->counts[SPI_LIST_CALLS_OF])
		tree->roots += spi_tree_stacks_look(bit);
	if (everybody && !tree->roots && spi_objects_list())
		tree->is_outside = !spi_tree_covers(tree, spi_objects_list());
	if (!everybody && (!is_main || take_main(tree, link, text) < 0))
		take_roots(tree, link, text);
	if (is_main)
		main_missing(tree);
	if (tree->is_outside) {		/* no root to wait for */
		__atomic_fetch_or(&spi_tree_everybody, bit, __ATOMIC_RELEASE);
		__atomic_fetch_add(&spi_tree_epoch, 1, __ATOMIC_RELEASE);
	}
	if (!(spi_tree_flat & bit))
		spi_tree_follow_start(tree);
	if (tree->follow & SPI_FOLLOW_EXEC)
		__atomic_fetch_or(&spi_tree_execs, bit, __ATOMIC_RELEASE);
	spi_exec_start(link);
	spi_tree_outside_take(tree);	/* what the agent watches in libc is had by then */
	spi_tree_handed_over_take(tree);
	tree->enabled = 1;
	followed_say();
	return 0;
}

/* While no object can be unloaded. */
static void objects_leave(void *data)
{
	uint32_t bit = *(const uint32_t *) data;

	spi_tree_roots_leave(bit);
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next) {
		uint64_t before;

		if (!(to->covered & bit))
			continue;
		__atomic_fetch_and(&to->covered, ~bit, __ATOMIC_RELEASE);
		to->outside &= ~bit;
		before = spi_patch_lock();
		spi_sites_leave(to, bit);
		for (uint32_t i = 0; i < to->map.head->funcs.count; i++)
			if (to->funcs[i].excluded & bit) {
				to->funcs[i].excluded &= ~bit;
				to->funcs[i].budget &= ~bit;
			}
		spi_patch_unlock(before);
	}
}

/* No tree is left: the spare bytes, too, where nobody can be in them. */
static void pads_clear(void *data)
{
	(void) data;
	if (!spi_tree_nobody_is_in_pads())
		return;
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		for (uint64_t at = 0; !to->gone && (at = spi_site_pads_next(to, at));) {
			uint64_t before = spi_patch_lock();

			spi_site_pad_clear(to, at);
			spi_patch_unlock(before);
		}
}

static void tree_end(struct spi_tree *tree)
{
	uint32_t bit = tree->bit;
	uint64_t before;

	if (!tree->enabled)
		return;
	tree->enabled = 0;
	followed_say();
	__atomic_fetch_and(&spi_tree_existing, ~bit, __ATOMIC_RELEASE);
	__atomic_fetch_and(&spi_tree_everybody, ~bit, __ATOMIC_RELEASE);
	__atomic_fetch_and(&spi_tree_others, ~bit, __ATOMIC_RELEASE);
	__atomic_fetch_and(&spi_tree_execs, ~bit, __ATOMIC_RELEASE);
	__atomic_store_n(&spi_tree_ended[tree->index], (uint32_t) spi_tree_epoch + 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&spi_tree_epoch, 1, __ATOMIC_RELEASE);
	spi_budget_tell(spi_link_current, 1);
	if (tree->budget) {
		spi_budget_stop(bit);
		spi_budget_tell(spi_link_current, 1);
	}
	before = spi_patch_lock();
	spi_calls_gather();
	spi_patch_unlock(before);
	spi_objects_hold(objects_leave, &bit);
	spi_tree_limited &= ~bit;
	spi_tree_flat &= ~bit;
	spi_tree_whole &= ~bit;
	if (spi_tree_existing)
		return;
	spi_tree_follow_stop();
	spi_exec_stop();
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		if (to->pads && spi_patch_frozen) {
			spi_patch_frozen(pads_clear, NULL);
			break;
		}
}

static int index_take(struct spi_tree *tree)
{
	static uint32_t next;
	uint32_t used = 0;

	for (const struct spi_tree *other = spi_trees; other; other = other->next)
		used |= other->bit;
	for (uint32_t i = 0; i < SPI_TREES_MAX; i++, next++) {
		uint32_t bit = 1u << next % SPI_TREES_MAX;

		if (used & bit)
			continue;
		tree->index = next++ % SPI_TREES_MAX;
		tree->bit = bit;
		return 0;
	}
	return -ENOSPC;
}

static void result_fill(const struct spi_tree *tree, struct spi_rule_result *result)
{
	result->matched = tree->matched;
	result->instrumented = tree->roots ? tree->roots : spi_sites_placed;
	result->declined = tree->declined;
}

int spi_tree_add(struct spi_link *link, struct rule *rule, struct spi_rule_result *result)
{
	struct spi_tree *tree = spi_map_pages(sizeof(*tree));
	const char *error;
	int r;

	if (!tree)
		return -ENOMEM;
	spi_site_workers_read();
	spi_patch_site_stub = spi_site_stub_at;
	spi_patch_site_byte = spi_site_byte_was;
	spi_text_can_sync();
	r = spi_tree_options_take(tree, rule->text.options, &error);
	if (r == 0 && index_take(tree) < 0) {
		error = "too many call trees at the same time";
		r = -ENOSPC;
	}
	if (r == 0) {
		rule->tree = tree;
		tree->rule = rule;
		if (tree->compact)
			spi_tree_compact |= tree->bit;
		else
			spi_tree_compact &= ~tree->bit;
		tree->next = spi_trees;
		spi_trees = tree;
		r = spi_module_load(link, result->text, sizeof(result->text));
		if (r == 0) {
			const char *why;

			spi_fault_install();
			if (tree->compact)
				spi_fault_last_install(spi_closing_last);
			spi_steps_begin();
			if (tree->budget && spi_payload->budget_prepare && spi_payload->budget_prepare(&why) < 0)
				spi_note("what a budget leaves out is not told in the trace: %s", why);
			if (tree->budget && !link)
				spi_tree_start_thread();
			if (spi_tree_start_later(tree, link))
				spi_format(result->text, sizeof(result->text), "it begins later");
			else
				r = tree_begin(tree, link, &rule->text);
		}
	} else {
		spi_format(result->text, sizeof(result->text), "%s", error);
		spi_sys(SYS_munmap, tree, (sizeof(*tree) + 4095) & ~4095ul);
		return r;
	}
	result_fill(tree, result);
	if (r == 0 && !tree->parse_only && !tree->roots && !spi_tree_flat && !tree->waits && !tree->is_outside)
		r = tree->matched ? -ENOTSUP : -ENOENT;
	if (r < 0 && tree->why[0] && !result->text[0])
		spi_format(result->text, sizeof(result->text), "%s", tree->why);
	spi_tree_report(link);
	return r;
}

void spi_tree_starts_take(struct spi_link *link)
{
	for (struct spi_tree *tree = spi_trees; tree; tree = tree->next) {
		if (!spi_tree_start_is_due(tree))
			continue;
		spi_tree_start_cancel(tree);
		tree_begin(tree, link, &tree->rule->text);
		if (!tree->roots && !tree->parse_only && !spi_tree_flat && !tree->is_outside)
			spi_note("a call tree that was to begin later has nothing to begin with");
		spi_tree_report(link);
	}
}

int spi_tree_set(struct rule *rule, int enabled, struct spi_rule_result *result)
{
	struct spi_tree *tree = rule->tree;
	int r = 0;

	if (!tree)
		return -ENOENT;
	spi_tree_start_cancel(tree);
	if (!enabled)
		tree_end(tree);
	else if (!tree->enabled && !spi_tree_start_later(tree, spi_link_current))
		r = tree_begin(tree, spi_link_current, &rule->text);
	result_fill(tree, result);
	return r;
}

void spi_tree_remove(struct rule *rule)
{
	struct spi_tree *tree = rule->tree;

	if (!tree)
		return;
	spi_tree_start_cancel(tree);
	tree_end(tree);
	spi_tree_report(spi_link_current);
	spi_tree_hot(spi_link_current);
	for (struct spi_tree **at = &spi_trees; *at; at = &(*at)->next)
		if (*at == tree) {
			*at = tree->next;
			break;
		}
	if (!spi_trees)
		spi_tree_report_forget();
	rule->tree = NULL;
	spi_sys(SYS_munmap, tree, (sizeof(*tree) + 4095) & ~4095ul);
}
