/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A rule's functions: the code maps of the objects that it covers, and a point for each function in them,
 * unless its address has one. An indirect function is what its resolver chose in this process: its
 * implementation is asked for by address, in a second pass.
 *
 * Control side only, under the control lock.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "codemap/map/check.h"
#include "codemap/map/format.h"
#include "rules/glob.h"
#include "rules/rule.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/rules/internal.h"

int spi_rule_keep(struct rule *rule, struct spi_point *point)
{
	for (uint32_t i = 0; i < rule->count && rule->count < 64; i++)
		if (rule->points[i] == point)
			return 0;
	if (rule->count == rule->room) {
		uint32_t room = rule->room ? rule->room * 2 : 512;
		struct spi_point **more = spi_map_pages(room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		if (rule->points) {
			memcpy(more, rule->points, rule->count * sizeof(*more));
			spi_sys(SYS_munmap, rule->points, rule->room * sizeof(*more));
		}
		rule->points = more;
		rule->room = room;
	}
	rule->points[rule->count++] = point;
	return 0;
}

void spi_work_decline(struct work *w, const struct spi_object *object, const char *function, const char *reason)
{
	if (!w->result->declined++)
		spi_format(w->result->text, sizeof(w->result->text), "%s", reason);
	spi_link_declined(w->link, object->name, function, reason);
}

/* ---- from a code map to points ------------------------------------------------------ */

static void resolver_ask(void *data)
{
	uint64_t *at = data;

	*at = ((uint64_t (*)(void)) *at)();
}

/*
 * What an indirect function's resolver chooses in this process: its code is analysed by address in a second pass. The
 * resolver is asked as the dynamic linker asks it, while nothing can be unloaded. dlsym() would, too, but waits for whoever is
 * within dlopen(); and there somebody may wait for us. Of what was loaded in this moment nothing is relocated yet, and cannot run.
 */
static void resolve_ifunc(struct work *w, struct spi_object *object, const struct spi_map_func *func, const char *name)
{
	size_t n = strlen(name) + 1, used = strlen(w->ifuncs);
	uint64_t at = func->vaddr + object->bias;
	char *kept;

	if (w->only == object) {
		spi_work_decline(w, object, name, "an indirect function of a library that was loaded later");
		return;
	}
	if (at < object->low || at >= object->high || !spi_patch_frozen || spi_patch_frozen(resolver_ask, &at) < 0) {
		spi_work_decline(w, object, name, "an indirect function whose resolver cannot be asked");
		return;
	}
	for (unsigned int i = 0; i < w->ifunc_count; i++)
		if (w->ifunc_at[i] == at)
			return;			/* several functions chose it: it goes by the first one's name */
	kept = spi_alloc(n);		/* the map may go before the point that takes this name */
	if (!kept) {
		spi_work_decline(w, object, name, "the agent has no memory left");
	} else if (at < object->low || at >= object->high) {
		spi_work_decline(w, object, name, "an indirect function whose implementation lies in another object");
	} else if (w->ifunc_count == IFUNC_MAX) {
		spi_work_decline(w, object, name, "too many indirect functions in one rule");
	} else {
		w->ifunc_at[w->ifunc_count] = at;
		memcpy(kept, name, n);
		w->ifunc_names[w->ifunc_count++] = kept;
		spi_format(w->ifuncs + used, sizeof(w->ifuncs) - used, "%s0x%lx%s%s", used ? "\n" : "", at - object->bias,
			n <= IFUNC_NAME ? " " : "", n <= IFUNC_NAME ? name : "");
	}
}

/* Of a function's names it has the one that the first of the rules in force asked for. Numbers of further functions do not count. */
static void name_tell(const struct work *w, const struct spi_point *p, const char *event)
{
	size_t n = strcspn(event, "@");

	if (n != strcspn(p->event_name, "@") || strncmp(event, p->event_name, n))
		spi_note("%s: its events are called spi:%s, another name of the same function: a rule made before has that",
			 w->rule->text.function, p->event_name);
}

static int names_object(const struct spi_rule *rule)
{
	return rule->object[0] && strcmp(rule->object, "*");
}

/* Is the function among those that the rule means? */
static int offers(const struct work *w, uint64_t address)
{
	if (!w->rule->text.libcalls || spi_exports_at(&w->exports, address))
		return 1;
	for (unsigned int i = 0; i < w->ifunc_count; i++)
		if (w->ifunc_at[i] == address)
			return 1;
	return 0;
}

/* Of two names of a function the one that a user knows: it matches the pattern, has no underscores in front, is short. */
static int is_better(const struct work *w, const char *name, const char *than)
{
	const int matches = spi_glob_match(w->rule->text.function, name), other = spi_glob_match(w->rule->text.function, than);

	if (matches != other)
		return matches;
	if ((*name == '_') != (*than == '_'))
		return *name != '_';
	return strlen(name) < strlen(than);
}

/* An event goes by the name by which others know the function, unless that is no use to read. `name`: the map's own. */
static const char *offered_name(const struct work *w, uint64_t address, const char *name)
{
	const struct spi_export *at = spi_exports_at(&w->exports, address), *end = w->exports.list + w->exports.count;
	const char *best = at ? spi_export_name(&w->exports, at) : NULL;
	char *kept;
	size_t n;

	for (; at && at < end && at->address == address; at++)
		if (is_better(w, spi_export_name(&w->exports, at), best))
			best = spi_export_name(&w->exports, at);
	if (!best || !strcmp(best, name) || !strncmp(best, "_Z", 2) || !strncmp(best, "_R", 2))
		return name;
	n = strlen(best) + 1;
	kept = spi_alloc(n);		/* lives as long as the point that takes this name */
	return kept ? memcpy(kept, best, n) : name;
}

static void take_function(struct work *w, struct spi_object *object, struct spi_map *map, const struct spi_map_func *func)
{
	const char *name = spi_map_string(map, func->name), *event = spi_map_string(map, func->event);
	const struct spi_rule *asked = &w->rule->text;
	uint32_t form = asked->payloads.count ? SPI_POINT_FOR_CLIENTS : (asked->one_event ? SPI_RULE_ONE_EVENT : 0) |
		(asked->compact ? SPI_RULE_COMPACT : 0) | (asked->libcalls ? SPI_POINT_LIBCALLS : 0);
	const char *why;
	struct spi_point *p;

	if (!offers(w, func->vaddr + object->bias))
		return;
	if (asked->libcalls && !names_object(asked) && spi_hooks_need(func->vaddr + object->bias)) {
		w->result->matched++;
		spi_work_decline(w, object, name, "the tracer stands before it, unless it is named with its library");
		return;
	}
	why = spi_map_func_asks_caller(map, func);
	if (why) {
		w->result->matched++;
		spi_work_decline(w, object, name, why);
		return;
	}
	if (func->flags & SPI_FUNC_IFUNC) {
		resolve_ifunc(w, object, func, offered_name(w, func->vaddr + object->bias, name));
		return;
	}
	for (unsigned int i = 0; i < w->ifunc_count; i++)
		if (w->ifunc_at[i] == func->vaddr + object->bias) {
			if (!w->is_chosen)
				return;			/* the second pass takes it */
			event = w->ifunc_names[i];
		}
	event = offered_name(w, func->vaddr + object->bias, event);
	w->result->matched++;

	p = spi_point_for(object, map, func, form, event);
	w->created += p && p->map == map;
	if (p && !asked->payloads.count && !asked->function[strcspn(asked->function, "*?[\\")])
		name_tell(w, p, event);
	if (!p || spi_rule_keep(w->rule, p) < 0)
		spi_work_decline(w, object, name, "no free memory within reach of the function");
}

static void take_map(struct work *w, struct spi_object *object, struct spi_map *map)
{
	const struct spi_map_func *funcs = SPI_MAP_AT(map, funcs, struct spi_map_func, 0);
	const struct spi_map_skip *skips = SPI_MAP_AT(map, skipped, struct spi_map_skip, 0);

	for (uint32_t i = 0; i < map->head->skipped.count; i++) {
		if (!offers(w, skips[i].vaddr + object->bias))
			continue;
		if (skips[i].reason == SPI_REASON_PART || skips[i].reason == SPI_REASON_PLT) {
			w->parts++;
			continue;
		}
		w->result->matched++;
		spi_work_decline(w, object, spi_map_string(map, skips[i].name), spi_map_reason_name(skips[i].reason));
	}
	for (uint32_t i = 0; i < map->head->funcs.count; i++)
		take_function(w, object, map, &funcs[i]);
}

/* Once an object: what of its debug info cannot be read, so that its functions' arguments are not known. */
static void debug_lost_tell(struct spi_object *object, const struct spi_map *map)
{
	const char *lost = spi_map_string(map, map->head->debug_lost);

	if (!*lost || object->debug_told)
		return;
	object->debug_told = 1;
	spi_note("%s: %s", object->name, lost);
}

static int take_object(struct work *w, struct spi_object *object, const char *patterns)
{
	struct spi_map *map = spi_alloc(sizeof(*map));
	uint32_t created = w->created;
	char error[400];
	int r;

	if (!map)
		return -ENOMEM;
	r = spi_map_fetch(w->link, object, patterns, 0, map, error, sizeof(error));
	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		if (!error[0])
			spi_format(error, sizeof(error), "no code map: error %d", -r);
		spi_work_decline(w, object, w->rule->text.function, error);
		return r == -ECONNRESET ? r : 0;
	}
	debug_lost_tell(object, map);
	take_map(w, object, map);
	if (w->created == created)
		spi_map_release(map);		/* every function of it has its point already */
	return 0;
}

/* With what indirect functions chose. */
static int take_all(struct work *w, struct spi_object *object)
{
	int r = take_object(w, object, w->rule->text.function);

	if (r == 0 && w->ifunc_count) {
		char patterns[sizeof(w->ifuncs)];

		memcpy(patterns, w->ifuncs, sizeof(patterns));
		w->is_chosen = 1;
		r = take_object(w, object, patterns);
		w->is_chosen = 0;
		w->ifunc_count = 0;
		w->ifuncs[0] = 0;
	}
	return r;
}

/*
 * Library calls: what the object offers to others. Where the rule names no object these are the functions that others
 * import. What a library offers that is loaded later is found by dlsym(), and all of it is taken.
 */
static int take_exports(struct work *w, struct spi_object *object)
{
	const int is_all = names_object(&w->rule->text) || w->only == object;
	int r = spi_exports_find(object, is_all ? NULL : w->only, is_all, &w->exports);

	if (r == 0 && w->exports.count)
		r = take_all(w, object);
	spi_exports_free(&w->exports);
	return r;
}

int spi_work_find(struct work *w)
{
	const struct spi_rule *asked = &w->rule->text;

	for (struct spi_object *o = spi_objects_scan(); o; o = o->next) {
		int r;

		/* what has just been loaded may be the first to import something of others */
		if (!o->seen || (w->only && o != w->only && !asked->libcalls) || !spi_rule_covers(asked, o))
			continue;
		if (spi_object_is_own(o)) {
			if (asked->object[0] && !asked->libcalls)
				spi_work_decline(w, o, asked->function, "the tracer runs through this object itself");
			continue;
		}
		r = asked->libcalls ? take_exports(w, o) : take_all(w, o);
		if (r < 0)
			return r;
	}
	w->rule->looked = spi_objects_scans;
	return 0;
}
