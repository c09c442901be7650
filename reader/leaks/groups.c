/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Groups: what each stack has got in a process.
 *
 * What each group had as the process had most is found in one pass: a group keeps what it had at the latest of these
 * times, and makes that anew before it changes for the first time after one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/leaks/leaks.h"

struct leak_group *leak_group_get(struct leak_process *p, const struct leak_stack *stack, int64_t thread)
{
	const uint64_t hash = spi_hash_number((uintptr_t) stack ^ (uint64_t) thread);
	struct leak_group *g = spi_hash_find(&p->groups, hash);

	while (g && (g->stack != stack || g->thread != thread))
		g = spi_hash_again(&g->link);
	if (g)
		return g;
	if (p->group_count == p->group_room) {
		const uint32_t room = p->group_room ? p->group_room * 2 : 64;
		struct leak_group **more = realloc(p->list, room * sizeof(struct leak_group *));

		if (!more)
			return NULL;
		p->list = more;
		p->group_room = room;
	}
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->stack = stack;
	g->thread = thread;
	spi_hash_add(&p->groups, &g->link, hash);
	p->list[p->group_count++] = g;
	return g;
}

/* Before it changes. */
static void group_settle(const struct leak_process *p, struct leak_group *g)
{
	if (g->peak == p->peak)
		return;
	g->peak = p->peak;
	g->peak_bytes = g->bytes;
	g->peak_blocks = g->blocks;
}

/* ---- how long blocks lived ---- */

static uint32_t lifetime_class(int64_t ns)
{
	const uint64_t v = ns > 0 ? (uint64_t) ns : 0;
	const unsigned int power = v < 4 ? 0 : 61u - (unsigned int) __builtin_clzll(v);
	const uint64_t class = v < 4 ? v : 4u * power + (v >> power);

	return class < LIFETIMES ? (uint32_t) class : LIFETIMES - 1;
}

static int64_t lifetime_of(uint32_t class)	/* the middle of it */
{
	const unsigned int power = class < 8 ? 0 : class / 4 - 1;

	return class < 8 ? (int64_t) class : (int64_t) (((4 + class % 4) * UINT64_C(2) + 1) << power >> 1);
}

int64_t leak_lifetime(const struct leak_group *g)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; g->lifetimes && i < LIFETIMES; i++) {
		seen += g->lifetimes[i];
		if (seen * 2 >= g->freed)
			return lifetime_of(i) < g->longest ? lifetime_of(i) : g->longest;
	}
	return -1;
}

/* ---- getting and giving back ---- */

int leak_group_gives(struct leak_process *p, struct leak_group *g, uint64_t size, int64_t lived)
{
	group_settle(p, g);
	g->bytes -= size;
	g->blocks--;
	p->bytes -= size;
	p->live--;
	if (lived < 0)
		return 0;
	if (!g->lifetimes)
		g->lifetimes = calloc(LIFETIMES, sizeof(*g->lifetimes));
	if (!g->lifetimes)
		return -ENOMEM;
	g->lifetimes[lifetime_class(lived)]++;
	g->freed++;
	g->longest = lived > g->longest ? lived : g->longest;
	return 0;
}

void leak_group_gets(struct leak_process *p, struct leak_group *g, uint64_t size, int64_t ns)
{
	group_settle(p, g);
	g->bytes += size;
	g->blocks++;
	g->calls++;
	g->got += size;
	p->bytes += size;
	p->live++;
	p->calls++;
	p->got += size;
	if (p->bytes <= p->peak_bytes)
		return;
	p->peak_bytes = p->bytes;
	p->peak_blocks = p->live;
	p->peak_ns = ns;
	p->peak++;
}

/* ---- groups by another key ---- */

/* A text that the group keeps. */
static char *key_of(const struct leaks *l, const struct leak_group *g)
{
	struct leak_frame *f = g->stack->count ? g->stack->frames[0] : NULL;
	char text[1700], function[1600];

	if (l->by == LEAK_BY_THREAD) {
		snprintf(text, sizeof(text), "thread %" PRId64, g->thread);
	} else if (!f) {
		snprintf(text, sizeof(text), "(not known)");
	} else if (l->by == LEAK_BY_OBJECT) {
		snprintf(text, sizeof(text), "%s", *leak_frame_object(f) ? leak_frame_object(f) : "(not known)");
	} else {
		leak_frame_function(f, function, sizeof(function));
		snprintf(text, sizeof(text), "%s [%s]", function, leak_frame_object(f));
	}
	return strdup(text);
}

static int group_add(struct leak_group *to, const struct leak_process *p, struct leak_group *from)
{
	group_settle(p, from);
	to->bytes += from->bytes;
	to->blocks += from->blocks;
	to->peak_bytes += from->peak_bytes;
	to->peak_blocks += from->peak_blocks;
	to->calls += from->calls;
	to->got += from->got;
	to->freed += from->freed;
	to->longest = from->longest > to->longest ? from->longest : to->longest;
	if (!from->lifetimes)
		return 0;
	if (!to->lifetimes)
		to->lifetimes = calloc(LIFETIMES, sizeof(*to->lifetimes));
	for (uint32_t i = 0; to->lifetimes && i < LIFETIMES; i++)
		to->lifetimes[i] += from->lifetimes[i];
	return to->lifetimes ? 0 : -ENOMEM;
}

struct leak_group **leaks_groups(struct leaks *l, struct leak_process *p, uint32_t *count)
{
	struct leak_group **groups = calloc(p->group_count + 1, sizeof(struct leak_group *)), *g;
	uint32_t n = 0;
	int r = groups ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < p->group_count; i++) {
		char *key = l->by == LEAK_BY_STACK ? NULL : key_of(l, p->list[i]);
		uint32_t k = 0;

		if (l->by != LEAK_BY_STACK)
			while (k < n && key && strcmp(groups[k]->key, key))
				k++;
		else
			k = n;
		if (k == n) {
			g = calloc(1, sizeof(*g));
			if (!g || (l->by != LEAK_BY_STACK && !key)) {
				free(g);
				r = -ENOMEM;
				break;
			}
			g->key = key;
			g->stack = l->by == LEAK_BY_STACK ? p->list[i]->stack : NULL;
			groups[n++] = g;
		} else {
			free(key);
		}
		r = group_add(groups[k], p, p->list[i]);
	}
	*count = n;
	if (r < 0) {
		leaks_groups_free(groups, n);
		return NULL;
	}
	return groups;
}

void leaks_groups_free(struct leak_group **groups, uint32_t count)
{
	for (uint32_t i = 0; groups && i < count; i++) {
		free((char *) (uintptr_t) groups[i]->key);
		free(groups[i]->lifetimes);
		free(groups[i]);
	}
	free(groups);
}
