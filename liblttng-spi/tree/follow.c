/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a tree follows besides calls: threads that are made, handlers that are
 * installed, libraries that are loaded; and where it begins in a process that is
 * running already.
 *
 * pthread_create() is watched at its entry in libc, by a point that records nothing and never has a return slot: it
 * tells the start routine of a thread before the thread exists. So are functions of libc's that are given a function
 * which libc calls, or jumps to, later: makecontext(), atexit() and their like. What they are given gets an entry
 * point.
 */
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "rules/rule.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/internal.h"

/* ---- what is watched in libc ---- */

/* lttng-ust's threads may hold what following would wait for; looking at a thread's trees marks them. */
static int is_programs(struct spi_thread *t)
{
	if (!t->busy)
		spi_tree_of(t);
	return !t->busy;
}

/* A thread is about to be made, which will begin with start(arg): it is in the trees that its maker is in. */
static void thread_comes(struct spi_frame *frame, int is_libcs)
{
	struct spi_thread *t = &spi_thread;
	uint32_t trees;

	if (!is_programs(t) || spi_thread_is_foreign(t))
		return;
	spi_tree_callback(spi_frame_argument(frame, 2));
	trees = spi_tree_of(t) & ~spi_tree_everybody & ~spi_tree_others & spi_tree_threads;
	if (trees && is_libcs && spi_thread_make(spi_frame_argument_at(frame, 2), spi_frame_argument_at(frame, 3), trees) < 0)
		spi_call_missed(SPI_LOST_THREAD);
}

#define UNUSED	__attribute__((unused))
#define BEFORE(name) \
	static uint64_t name(struct spi_point *point UNUSED, struct spi_frame *frame UNUSED, const uint8_t *vec UNUSED, \
		uint64_t stride UNUSED)

BEFORE(thread_watch)
{
	thread_comes(frame, 1);
	return 0;
}

/* A runtime that stands before libc's: the call comes by libc's a second time. */
BEFORE(runtime_watch)
{
	thread_comes(frame, 0);
	return 0;
}

/* Whoever has just loaded a library is about to use it, should the dynamic linker not have told (load-watch.c). */
BEFORE(load_watch)
{
	struct spi_thread *t = &spi_thread;

	if (is_programs(t) && spi_may(SPI_MAY_ACT | SPI_MAY_HERE)) {
		spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));
		spi_tree_loads_follow();
		t->busy--;
	}
	return 0;
}

/* Some are called with a null pointer for a function that is not wanted. */
static void function_given(uint64_t function)
{
	if (function && is_programs(&spi_thread))
		spi_tree_callback(function);
}

BEFORE(first_given)
{
	function_given(spi_frame_argument(frame, 0));
	return 0;
}

BEFORE(second_given)
{
	function_given(spi_frame_argument(frame, 1));
	return 0;
}

BEFORE(three_given)
{
	function_given(spi_frame_argument(frame, 0));
	function_given(spi_frame_argument(frame, 1));
	function_given(spi_frame_argument(frame, 2));
	return 0;
}

#define ROW(name, function, what) \
	{ name, .before = function, .ways = SPI_HOOK_ENTRY, .set = SPI_HOOKS_TREES, .lost = what }
#define GIVEN		"what it is given is not recorded when libc calls that"
#define THREADS		"threads that it begins for the program are not recorded"
const struct spi_hook spi_follow_hooks[] = {
	ROW("pthread_create", thread_watch, THREADS),
	ROW("dlsym", load_watch, "libraries are seen only when the dynamic linker tells of them"),
	ROW("makecontext", second_given, GIVEN),
	ROW("__cxa_atexit", first_given, GIVEN),		/* atexit(), C++ static objects */
	ROW("on_exit", first_given, GIVEN),
	ROW("__cxa_at_quick_exit", first_given, GIVEN),
	ROW("__cxa_thread_atexit_impl", first_given, GIVEN),
	ROW("pthread_key_create", second_given, GIVEN),
	ROW("__register_atfork", three_given, GIVEN),		/* pthread_atfork() */
	{ "pthread_create", .before = runtime_watch, .ways = SPI_HOOK_ENTRY, .flags = SPI_HOOK_IN_RUNTIME,
		.set = SPI_HOOKS_TREES, .lost = THREADS },
	{ NULL },
};

static struct spi_tree_object *libc_object(void)
{
	struct spi_tree_object *to = spi_tree_objects;

	while (to && (!to->is_libc || to->gone))
		to = to->next;
	return to;
}

/*
 * Destructors of C++ objects are called from there: of thread-local ones, and of a library's own when it is unloaded.
 * Found by their addresses: a search through the names would bring all of the map in.
 */
static void destructors_take(void)
{
	static const char *const names[] = { "__call_tls_dtors", "__cxa_finalize" };

	for (unsigned int k = 0; libc_object() && k < sizeof(names) / sizeof(names[0]); k++) {
		uint64_t address = (uint64_t) spi_find_in_libc(names[k]);

		if (address)
			spi_tree_caller_back(address);
	}
}

/* ---- libraries ---- */

static uint64_t loads_seen;

/* What was unloaded counts, too: another may come to its place. */
static int loads_of(struct dl_phdr_info *info, size_t size, void *data)
{
	(void) size;
	*(uint64_t *) data = info->dlpi_adds + (info->dlpi_subs << 32);
	return 1;
}

/* Control side: what has come since. */
void spi_tree_loads_take(struct spi_link *link)
{
	spi_unloads_follow();
	spi_give_up_take();
	spi_rules_loads_take(link);
	spi_hooks_later();
	for (struct spi_object *o = spi_objects_list(); o; o = o->next)
		for (struct spi_tree *tree = spi_trees; tree; tree = tree->next)
			if (tree->enabled && (tree->follow & SPI_FOLLOW_DLOPEN) && spi_tree_covers(tree, o))
				spi_tree_take_loaded(tree, link, o);
	for (struct spi_tree *tree = spi_trees; tree; tree = tree->next)
		if (tree->enabled) {
			spi_tree_outside_take(tree);
			spi_tree_handed_over_take(tree);
		}
	spi_tree_ends_look(0);
	if (spi_watched & SPI_WATCH_OBJECTS)
		spi_participants_run(objects_looked_at);
	if (spi_trees)
		spi_symbols_scan();
	spi_tree_apart_tell(link);
	if (link)
		spi_link_declined_flush(link);
}

void spi_tree_loads_follow(void)
{
	/* an observer is to know before the thread goes on */
	const int is_told = (spi_watched & SPI_WATCH_OBJECTS) && spi_rules_do_without;
	uint64_t loads = 0;

	dl_iterate_phdr(loads_of, &loads);
	if (loads == __atomic_load_n(&loads_seen, __ATOMIC_ACQUIRE) || spi_child_loads())
		return;
	if (spi_link_current && !spi_payload && !is_told) {
		spi_control_ring();	/* the waiting thread has the lock that the event module's loading needs */
	} else if (spi_link_current) {
		spi_control_ask();
	} else {
		spi_control_lock();
		spi_tree_loads_take(NULL);
		spi_control_unlock();
	}
	__atomic_store_n(&loads_seen, loads, __ATOMIC_RELEASE);
}

/* ---- begin and end ---- */

void spi_tree_follow_start(struct spi_tree *tree)
{
	const char *reason;

	dl_iterate_phdr(loads_of, &loads_seen);
	if (spi_trap_watch)
		spi_trap_watch(&reason);	/* what installs handlers passes by the agent */
	spi_tree_handlers_look();
	if (tree->follow & (SPI_FOLLOW_THREADS | SPI_FOLLOW_DLOPEN))
		spi_hooks_enter(SPI_HOOKS_TREES, spi_link_current);
	if (tree->follow & SPI_FOLLOW_THREADS)
		destructors_take();
	spi_tree_ends_look(1);
	if (tree->follow & SPI_FOLLOW_DLOPEN)
		spi_loads_watch(1);
}

void spi_tree_follow_stop(void)
{
	spi_hooks_leave(SPI_HOOKS_TREES);
	spi_rules_watch_loads();
}
