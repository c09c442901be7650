/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * int3 in a program that the agent was injected into. A preloaded agent stands
 * before libc's functions for signals by the order of symbols (signals.c,
 * masks.c); an injected one comes too late for that, and the program could block
 * SIGTRAP or replace its handler, and die of the next int3.
 *
 * So the agent's own patcher puts jumps to the same functions into libc's, which
 * catches calls from inside libc as well; what they call in turn is the moved
 * beginning of libc's. This is done when int3 is first needed, and undone when the
 * last rule goes. Where one of the functions that matter cannot be had, because it
 * does not fit or is traced itself, there is no int3.
 *
 * The jump leads through the point's stub, without gates, to spi_hook_thunk, which
 * goes on to the replacement with the registers and the stack of the call; rax
 * alone is not kept, and says nothing at the entry of these functions.
 *
 * Control side only.
 */
#include <errno.h>
#include <string.h>
#include <signal.h>
#include "codemap/map/check.h"
#include "liblttng-spi/instrument.h"
#include "liblttng-spi/interpose.h"

#define REASON		"needs int3, and libc's functions for signals cannot be watched"

/* What blocks signals or takes them away; the others only wait for some, and ask. (sigwaitinfo() jumps to sigtimedwait.) */
static const struct {
	const char *name;
	int is_needed;
} functions[] = {
	{ "sigaction", 1 }, { "pthread_sigmask", 1 }, { "sigsuspend", 1 }, { "ppoll", 1 }, { "pselect", 1 },
	{ "epoll_pwait", 1 }, { "epoll_pwait2", 1 },
	{ "pthread_attr_setsigmask_np", 1 }, { "pthread_attr_getsigmask_np", 0 },
	{ "timer_create", 1 }, { "mq_notify", 1 }, { "sigtimedwait", 0 }, { "sigwait", 0 }, { "sigpending", 0 }, { "__xpg_sigpause", 0 },
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static struct spi_point *points[FUNCTIONS];
static int failed, active;

static struct spi_object *libc_find(void)
{
	for (struct spi_object *o = spi_objects_scan(); o; o = o->next)
		if (o->seen && !strcmp(o->name, "libc.so.6"))
			return o;
	return NULL;
}

/* A point that is in no rule and no table. NULL: the function cannot be changed. */
static struct spi_point *point_make(struct spi_object *libc, const struct spi_map *map, const struct spi_map_func *func,
	const char *name, int is_needed)
{
	struct spi_point *p = spi_near_alloc(libc, sizeof(*p), 64);
	const char *reason;

	if (!p)
		return NULL;
	p->address = func->vaddr + libc->bias;
	p->object = libc;
	p->func = func;
	p->map = map;
	p->thunk = (uint64_t) spi_hook_thunk;
	p->flags = SPI_POINT_APART;
	if (spi_patch_prepare(p, &reason) < 0) {
		if (is_needed)
			spi_note("libc's %s() cannot be watched: %s", name, reason);
		return NULL;
	}
	/* from here on the replacement calls libc's function by its body */
	p->payload = spi_signals_replace(name, (void *) p->body);
	return p->payload ? p : NULL;
}

static int points_make(struct spi_object *libc, const struct spi_map *map)
{
	const struct spi_map_func *funcs = SPI_MAP_AT(map, funcs, struct spi_map_func, 0);

	for (unsigned int n = 0; n < FUNCTIONS; n++) {
		for (uint32_t i = 0; i < map->head->funcs.count && !points[n]; i++)
			if (!strcmp(spi_map_string(map, funcs[i].name), functions[n].name))
				points[n] = point_make(libc, map, &funcs[i], functions[n].name,
					functions[n].is_needed);
		/* an older libc may not have it */
		if (!points[n] && functions[n].is_needed && strcmp(functions[n].name, "epoll_pwait2"))
			return -ENOTSUP;
	}
	return 0;
}

static int prepare(void)
{
	static struct spi_map map;		/* stays mapped: the points refer to it */
	struct spi_object *libc = libc_find();
	char patterns[256] = "", error[400];
	int used = 0;

	if (!libc)
		return -ENOENT;
	for (unsigned int n = 0; n < FUNCTIONS; n++)
		used += spi_format(patterns + used, sizeof(patterns) - (size_t) used, "%s%s", n ? "\n" : "",
			functions[n].name);
	if (spi_map_fetch(spi_link_current, libc, patterns, 0, &map, error, sizeof(error)) < 0)
		return -ENOENT;
	return points_make(libc, &map);
}

static int install(void)
{
	struct spi_point *list[FUNCTIONS];
	const char *errors[FUNCTIONS];
	uint32_t n = 0;

	for (unsigned int i = 0; i < FUNCTIONS; i++)
		if (points[i])
			list[n++] = points[i];
	n = spi_points_write(list, n, errors, 1);
	for (uint32_t i = 0; i < n; i++)
		if (errors[i])
			return -EBUSY;
	return n ? 0 : -EBUSY;
}

static void remove_all(void)
{
	const char *errors[FUNCTIONS];
	struct spi_point *list[FUNCTIONS];
	uint32_t n = 0;

	for (unsigned int i = 0; i < FUNCTIONS; i++)
		if (points[i] && points[i]->installed)
			list[n++] = points[i];
	spi_points_write(list, n, errors, 0);
}

int spi_watch_start(const char **reason)
{
	*reason = REASON;
	if (active)
		return 0;
	if (failed)
		return -ENOTSUP;
	if ((!points[0] && prepare() < 0) || install() < 0) {
		remove_all();
		failed = 1;
		return -ENOTSUP;
	}
	active = 1;
	return 0;
}

void spi_watch_stop(void)
{
	if (!active)
		return;
	spi_trap_unwatched();
	remove_all();
	active = 0;
}
