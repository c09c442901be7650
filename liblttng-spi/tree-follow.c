/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a tree follows besides calls: threads that are made, handlers that are
 * installed, libraries that are loaded; and where it begins in a process that is
 * running already.
 *
 * pthread_create() and dlsym() are watched at their entries in libc, by points that
 * record nothing and never have a return slot: the first tells the start routine
 * of a thread before that exists, the second is called by whoever has just loaded
 * a library and is about to use it, should the dynamic linker not have told
 * (load-watch.c). A library's function that is met before its map was there is a
 * gap, counted, and ends it. So are functions of libc's that are given a function which libc calls, or jumps to, later:
 * makecontext(), atexit() and their like. What they are given gets an entry point.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "liblttng-spi/interpose.h"
#include "liblttng-spi/tree-rule.h"

/* ---- what is watched in libc ---- */

static uint64_t thread_watch(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
static uint64_t load_watch(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);
static uint64_t handler_watch(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride);

#define GIVEN(n)	(1u << (n))

/* The last one: of who stands before libc's. */
static struct watched {
	const char *name;
	spi_entry_fn entry;
	struct spi_point *point;
	uint32_t given;		/* handler_watch: the arguments that are functions */
} watched[] = {
	{ "pthread_create", thread_watch, NULL, 0 }, { "dlsym", load_watch, NULL, 0 },
	{ "makecontext", handler_watch, NULL, GIVEN(1) },
	{ "__cxa_atexit", handler_watch, NULL, GIVEN(0) },		/* atexit(), C++ static objects */
	{ "on_exit", handler_watch, NULL, GIVEN(0) },
	{ "__cxa_at_quick_exit", handler_watch, NULL, GIVEN(0) },
	{ "__cxa_thread_atexit_impl", handler_watch, NULL, GIVEN(0) },
	{ "pthread_key_create", handler_watch, NULL, GIVEN(1) },
	{ "__register_atfork", handler_watch, NULL, GIVEN(0) | GIVEN(1) | GIVEN(2) },	/* pthread_atfork() */
	{ "pthread_create", thread_watch, NULL, 0 },
};
#define WATCHED (sizeof(watched) / sizeof(watched[0]))
#define WATCHED_LIBC (WATCHED - 1)

/* lttng-ust's threads may hold what following would wait for; looking at a thread's trees marks them. */
static int is_programs(struct spi_thread *t)
{
	if (!t->busy)
		spi_tree_of(t);
	return !t->busy;
}

/* A thread is about to be made, which will begin with start(arg): it is in the trees that its maker is in. */
static uint64_t thread_watch(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;
	uint32_t trees;

	(void) vec;
	(void) stride;
	if (!is_programs(t) || spi_thread_is_foreign(t))
		return 0;
	spi_tree_callback(spi_frame_argument(frame, 2));
	trees = spi_tree_of(t) & ~spi_tree_everybody & ~spi_tree_others & spi_tree_threads;
	/* not at who stands before libc's, and comes by here a second time */
	if (trees && point != watched[WATCHED_LIBC].point &&
			spi_thread_make(spi_frame_argument_at(frame, 2), spi_frame_argument_at(frame, 3), trees) < 0)
		spi_call_missed(SPI_LOST_MEMORY);
	return 0;
}

static uint64_t load_watch(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;

	(void) point;
	(void) frame;
	(void) vec;
	(void) stride;
	if (is_programs(t) && spi_may(SPI_MAY_ACT | SPI_MAY_HERE)) {
		spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));
		spi_tree_loads_follow();
		t->busy--;
	}
	return 0;
}

/* Some are called with a null pointer for a function that is not wanted. */
static uint64_t handler_watch(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	const struct watched *w = watched;

	(void) vec;
	(void) stride;
	while (w->point != point)
		w++;
	for (uint32_t given = w->given; is_programs(&spi_thread) && given; given &= given - 1) {
		uint64_t function = spi_frame_argument(frame, (unsigned int) __builtin_ctz(given));

		if (function)
			spi_tree_callback(function);
	}
	return 0;
}

static struct spi_object *libc_find(void)
{
	for (struct spi_object *o = spi_objects_list(); o; o = o->next)
		if (o->seen && !strcmp(o->name, "libc.so.6"))
			return o;
	return NULL;
}

/* By its address where that is known: a search through the names would bring all of the map in. */
static int64_t func_named(const struct spi_object *object, const struct spi_map *map, uint64_t address, const char *name)
{
	const struct spi_map_func *funcs = SPI_MAP_AT(map, funcs, struct spi_map_func, 0);
	int64_t found = address ? spi_map_func_at(map, address - object->bias) : -1;

	if (found >= 0)
		return found;
	for (uint32_t i = 0; i < map->head->funcs.count; i++)
		if (!strcmp(spi_map_string(map, funcs[i].name), name))
			return i;
	return -1;
}

static void watched_make(struct watched *w, struct spi_object *object, const struct spi_map *map, uint64_t address)
{
	int64_t i = func_named(object, map, address, w->name);
	const char *reason = "it is not there";
	struct spi_point *p;

	if (i >= 0 && spi_map_func_is_good(map, (uint64_t) i)) {
		p = spi_near_alloc(object, sizeof(*p), 64);
		if (!p)
			return;
		p->func = SPI_MAP_AT(map, funcs, struct spi_map_func, i);
		p->address = p->func->vaddr + object->bias;
		p->object = object;
		p->map = map;
		p->entry = w->entry;
		p->flags = SPI_POINT_APART;
		spi_thread_thunks(p, 1, 1);
		if (spi_patch_prepare(p, &reason) == 0) {
			w->point = p;
			return;
		}
	}
	spi_note("%s()'s callers cannot be watched in %s: %s", w->name, object->name, reason);
}

static void watched_write(int install)
{
	struct spi_point *list[WATCHED];
	const char *errors[WATCHED];
	uint32_t n = 0;

	for (unsigned int i = 0; i < WATCHED; i++)
		if (watched[i].point && watched[i].point->installed != (uint32_t) install)
			list[n++] = watched[i].point;
	spi_points_write(list, n, errors, install);
}

/*
 * A sanitizer's runtime, into which no tree goes, stands before libc's pthread_create(), and gives that a start routine of
 * its own. Which one the program wants is seen at the runtime's function only.
 */
static void before_libc_watch(void)
{
	static struct spi_map map;	/* stays mapped */
	static int looked;
	const char *name = watched[WATCHED_LIBC].name;
	uint64_t address = 0;
	char error[400];

	for (struct spi_object *o = spi_objects_list(); o && !looked && !address; o = o->next) {
		if (!o->seen || !spi_object_is_sanitizer(o))
			continue;
		address = (uint64_t) spi_symbol_beside(name, o->low);
		if (address && spi_map_fetch(spi_link_current, o, name, 0, &map, error, sizeof(error)) < 0)
			spi_note("%s: threads that it begins for the program are not recorded: %s", o->name, error);
		else if (address)
			watched_make(&watched[WATCHED_LIBC], o, &map, address);
	}
	looked = 1;
}

static void watched_start(void)
{
	static struct spi_map map;	/* stays mapped: the points refer to it */
	static int made;
	struct spi_object *libc = libc_find();
	const struct spi_map *from = NULL;
	char error[400], names[300];
	int n = 0;

	if (!libc)
		return;
	for (unsigned int i = 0; i < WATCHED_LIBC; i++)
		n += spi_format(names + n, sizeof(names) - (size_t) n, "%s%s", i ? "\n" : "", watched[i].name);
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		if (to->object == libc)
			from = &to->map;
	if (!made && !from && spi_map_fetch(spi_link_current, libc, names, 0, &map, error, sizeof(error)) == 0)
		from = &map;
	for (unsigned int i = 0; from && !made && i < WATCHED_LIBC; i++)
		watched_make(&watched[i], libc, from, (uint64_t) spi_find_in_libc(watched[i].name));
	made |= from != NULL;
	before_libc_watch();
	watched_write(1);
}

/* Destructors of C++ objects are called from there: of thread-local ones, and of a library's own when it is unloaded. */
static void destructors_take(void)
{
	static const char *const names[] = { "__call_tls_dtors", "__cxa_finalize" };

	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		for (unsigned int k = 0; to->is_libc && !to->gone && k < sizeof(names) / sizeof(names[0]); k++) {
			int64_t i = func_named(to->object, &to->map, (uint64_t) spi_find_in_libc(names[k]), names[k]);

			if (i >= 0)
				spi_tree_caller_back(spi_tree_map_func(to, (uint64_t) i)->vaddr + to->object->bias);
		}
}

/* ---- libraries ---- */

static uint64_t loads_seen;

/* What was unloaded counts, too: another may come to its place. */
static int loads_of(struct dl_phdr_info *info, size_t size, void *data)
{
	*(uint64_t *) data = info->dlpi_adds + (spi_objects_unloads_of(info, size) << 32);
	return 1;
}

/* Control side: what has come since. */
void spi_tree_loads_take(struct spi_link *link)
{
	spi_unloads_follow();
	spi_give_up_take();
	spi_rules_loads_take(link);
	spi_redirect_later();
	spi_tree_callbacks_take();
	for (struct spi_object *o = spi_objects_list(); o; o = o->next)
		for (struct spi_tree *tree = spi_trees; tree; tree = tree->next)
			if (tree->enabled && (tree->follow & SPI_FOLLOW_DLOPEN) && spi_tree_covers(tree, o))
				spi_tree_take_loaded(tree, link, o);
	for (const struct spi_tree *tree = spi_trees; tree; tree = tree->next)
		if (tree->enabled)
			spi_tree_outside_take(tree);
	spi_tree_ends_look(0);
	if (spi_trees)
		spi_symbols_scan();
	spi_tree_apart_tell(link);
	if (link)
		spi_link_declined_flush(link);
}

void spi_tree_loads_follow(void)
{
	uint64_t loads = 0;

	dl_iterate_phdr(loads_of, &loads);
	if (loads == __atomic_load_n(&loads_seen, __ATOMIC_ACQUIRE) || spi_child_loads())
		return;
	if (spi_link_current && !spi_payload) {
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

/*
 * Code that was made, not loaded, stays unknown; a call of it asks once, and so once more after each that was loaded.
 * Either way the call goes on unrecorded; when the object has come, its points look again.
 */
void spi_tree_ask_for(uint64_t address)
{
	static uint64_t asked_for;

	if (spi_symbols_know(address, 0) || spi_control_event < 0 || __atomic_load_n(&asked_for, __ATOMIC_RELAXED) == address)
		return;
	__atomic_store_n(&asked_for, address, __ATOMIC_RELAXED);
	spi_control_ring();
}

/* ---- begin and end ---- */

void spi_tree_follow_start(struct spi_tree *tree)
{
	const char *reason;

	dl_iterate_phdr(loads_of, &loads_seen);
	if (!spi_env.preloaded)
		spi_watch_start(&reason);	/* what installs handlers passes by the agent */
	spi_tree_handlers_look();
	if (tree->follow & (SPI_FOLLOW_THREADS | SPI_FOLLOW_DLOPEN))
		watched_start();
	if (tree->follow & SPI_FOLLOW_THREADS)
		destructors_take();
	spi_tree_ends_look(1);
	if (tree->follow & SPI_FOLLOW_DLOPEN)
		spi_tree_loads_watch(1);
}

void spi_tree_follow_stop(void)
{
	watched_write(0);
	spi_rules_watch_loads();
}
