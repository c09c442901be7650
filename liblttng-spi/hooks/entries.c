/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Jumps at the entries of functions. They are for what neither the order of symbols nor pointers reach: calls
 * from within libc, and an injected agent that has to see every call.
 *
 * The agent's own patcher puts them there. A jump leads through the stub of a point that is in no rule and no
 * table. With a replacement the stub goes on to spi_hook_thunk (arch/x86-64/process/hooks.S), which goes on to the
 * replacement with the registers and the stack of the call; rax alone is not kept, and says nothing at the
 * entry of these functions. Else the stub goes to the thunk of a traced call, which calls the row's `before`
 * and goes on to the function.
 *
 * Points are made when the set is wanted for the first time, and are there for ever: threads may be in their
 * stubs.
 */
#include <errno.h>
#include <string.h>
#include "codemap/map/check.h"
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/hooks/internal.h"

#define PATTERNS_SIZE	512u

void spi_hook_thunk(void) SPI_HIDDEN;

/* What there is of a set. Under the control lock. */
static struct {
	uint8_t is_made, is_refused, stands;
	struct spi_map map;		/* stays mapped: the points refer to it */
} sets[SPI_HOOK_SETS];

#define EACH_OF(set_, s) \
	for (struct spi_hook_state *s = spi_hook_states; s < spi_hook_states + spi_hooks_count; s++) \
		if (s->hook->set != (set_)) \
			continue; \
		else

static int is_in_libc(const struct spi_hook *hook)
{
	return (hook->ways & SPI_HOOK_ENTRY) && !(hook->flags & SPI_HOOK_IN_RUNTIME);
}

static int is_vital(const struct spi_hook *hook)
{
	return hook->flags & SPI_HOOK_VITAL;
}

static int has_any(enum spi_hook_set set, int (*is)(const struct spi_hook *hook))
{
	EACH_OF(set, s)
		if (is(s->hook))
			return 1;
	return 0;
}

static struct spi_object *libc_find(void)
{
	struct spi_object *o = spi_objects_list();

	for (o = o ? o : spi_objects_scan(); o; o = o->next)
		if (o->seen && !strcmp(o->name, "libc.so.6"))
			return o;
	return NULL;
}

/* By its address where the map has that: a search by name brings all of the map in. -1: it is not there. */
static int64_t func_find(const struct spi_object *object, const struct spi_map *map, uint64_t address, const char *name)
{
	const struct spi_map_func *funcs = SPI_MAP_AT(map, funcs, struct spi_map_func, 0);
	int64_t found = spi_map_func_at(map, address - object->bias);

	for (uint32_t i = 0; found < 0 && i < map->head->funcs.count; i++)
		if (!strcmp(spi_map_string(map, funcs[i].name), name))
			found = i;
	return found;
}

/* NULL and *reason: there can be no jump at this entry. */
static struct spi_point *point_make(const struct spi_hook *hook, struct spi_object *object, const struct spi_map *map,
	uint64_t address, const char **reason)
{
	int64_t i = func_find(object, map, address, hook->name);
	struct spi_point *p;

	*reason = "it is not there";
	if (i < 0 || !spi_map_func_is_good(map, (uint64_t) i))
		return NULL;
	*reason = "there is no memory near it";
	p = spi_near_alloc(object, sizeof(*p), 64);
	if (!p)
		return NULL;
	p->func = SPI_MAP_AT(map, funcs, struct spi_map_func, i);
	p->address = p->func->vaddr + object->bias;
	p->object = object;
	p->map = map;
	p->flags = SPI_POINT_APART;
	if (hook->before) {
		p->entry = hook->before;
		spi_thread_thunks(p, 1, 1);
	} else {
		p->thunk = (uint64_t) spi_hook_thunk;
	}
	if (spi_patch_prepare(p, reason) < 0)
		return NULL;
	*reason = "it would need int3, each time";
	if ((hook->flags & SPI_HOOK_NO_TRAP) && spi_patch_worker(p) == SPI_WORKER_TRAP)
		return NULL;
	if (!hook->before)
		p->payload = hook->with;
	return p;
}

/*
 * A sanitizer's runtime, into which no tree goes, stands before some of libc's functions, and gives libc's
 * others than the program gives it. What the program wants is seen at the runtime's function only.
 */
static void runtime_make(struct spi_hook_state *s, struct spi_link *link)
{
	static struct spi_map map;	/* stays mapped */
	uint64_t address = 0;
	const char *reason;
	char error[400];

	for (struct spi_object *o = spi_objects_list(); o && !address; o = o->next) {
		if (!o->seen || !spi_object_is_sanitizer(o))
			continue;
		address = (uint64_t) spi_symbol_beside(s->hook->name, o->low);
		if (!address)
			continue;
		reason = error;
		if (spi_map_fetch(link, o, s->hook->name, 0, &map, error, sizeof(error)) == 0)
			s->point = point_make(s->hook, o, &map, address, &reason);
		if (!s->point)
			spi_hook_note_lost(s->hook, o->name, reason);
	}
}

/* A map of the set's functions of libc's. NULL: there is none yet. */
static const struct spi_map *map_get(enum spi_hook_set set, struct spi_link *link, struct spi_object *libc)
{
	char patterns[PATTERNS_SIZE] = "", error[400];
	int used = 0;

	EACH_OF(set, s)
		if (is_in_libc(s->hook))
			used += spi_format(patterns + used, sizeof(patterns) - (size_t) used, "%s%s", used ? "\n" : "",
				s->hook->name);
	return spi_map_fetch(link, libc, patterns, 0, &sets[set].map, error, sizeof(error)) < 0 ? NULL : &sets[set].map;
}

/* -1: a vital one cannot be had. One that libc does not have cannot be called. */
static int libc_make(enum spi_hook_set set, struct spi_object *libc, const struct spi_map *map)
{
	EACH_OF(set, s) {
		uint64_t address = is_in_libc(s->hook) ? (uint64_t) spi_find_in_libc(s->hook->name) : 0;
		const char *reason;

		if (!address)
			continue;
		s->point = point_make(s->hook, libc, map, address, &reason);
		if (s->point)
			continue;
		spi_hook_note_lost(s->hook, "libc", reason);
		if (is_vital(s->hook))
			return -1;
	}
	return 0;
}

static int make(enum spi_hook_set set, struct spi_link *link)
{
	const struct spi_map *map;
	struct spi_object *libc;

	if (has_any(set, is_in_libc)) {
		libc = libc_find();
		map = !libc ? NULL : libc->whole ? libc->whole : map_get(set, link, libc);
		if (!map)
			return -ENOENT;
		if (libc_make(set, libc, map) < 0)
			return -ENOTSUP;
	}
	EACH_OF(set, s)
		if (s->hook->flags & SPI_HOOK_IN_RUNTIME)
			runtime_make(s, link);
	sets[set].is_made = 1;
	return 0;
}

/* Another thread may call a replacement before its jump is there, and after: all that `next` has been stays valid. */
static void next_set(const struct spi_hook_state *s, int at_entry)
{
	if (s->point && s->hook->next && !s->hook->before)
		__atomic_store_n(s->hook->next, at_entry ? (void *) s->point->body : s->following, __ATOMIC_RELEASE);
}

/* Returns how many vital ones could not be written. */
static unsigned int write_all(enum spi_hook_set set, int install)
{
	struct spi_point *list[SPI_HOOKS_MOST];
	const char *errors[SPI_HOOKS_MOST];
	unsigned int lacking = 0;
	uint32_t n = 0;

	EACH_OF(set, s) {
		if (s->hook->ways & SPI_HOOK_LINKER)
			spi_hook_linker_write(s->hook, install);
		if (install)
			next_set(s, 1);
		if (s->point && s->point->installed != (uint32_t) install)
			list[n++] = s->point;
	}
	spi_points_write(list, n, errors, install);
	EACH_OF(set, s) {
		if (!install)		/* a jump that could not be taken out still leads to the replacement */
			next_set(s, s->point && s->point->installed);
		lacking += is_vital(s->hook) && s->point && s->point->installed != (uint32_t) install;
	}
	return lacking;
}

int spi_hooks_enter(enum spi_hook_set set, struct spi_link *link)
{
	int r = 0;

	if (sets[set].is_refused)
		return -ENOTSUP;
	spi_hooks_find_next();
	if (!sets[set].is_made)
		r = make(set, link);
	if (r == 0 && write_all(set, 1))
		r = -EBUSY;
	if (r == 0) {
		sets[set].stands = 1;
	} else if (has_any(set, is_vital)) {
		write_all(set, 0);
		sets[set].stands = 0;
		sets[set].is_refused = 1;
	}
	return r;
}

void spi_hooks_leave(enum spi_hook_set set)
{
	if (!sets[set].stands)
		return;
	write_all(set, 0);
	sets[set].stands = 0;
}

int spi_hooks_stand(enum spi_hook_set set)
{
	return sets[set].stands;
}
