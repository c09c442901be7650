/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The busiest functions of a process, as its agent tells of them. A busy function is told of again and again. So a
 * table with a bounded number of places suffices, in which a newcomer takes the place of the function with fewest
 * calls.
 */
#include <stdlib.h>
#include <string.h>

#include "broker/process/internal.h"

#define HOT_KEPT 256u

static struct hot *hot_find(struct process *p, const char *object, const char *function)
{
	for (unsigned int i = 0; i < p->report.nr_hot; i++)
		if (!strcmp(p->report.hot[i].function, function) && !strcmp(p->report.hot[i].object, object))
			return &p->report.hot[i];
	return NULL;
}

/* A free place, or the least busy one's when that is less busy than `count`. */
static struct hot *hot_place(struct process *p, uint64_t count)
{
	struct hot *least = NULL;

	if (!p->report.hot)
		p->report.hot = calloc(HOT_KEPT, sizeof(*p->report.hot));
	if (!p->report.hot)
		return NULL;
	if (p->report.nr_hot < HOT_KEPT)
		return &p->report.hot[p->report.nr_hot++];
	for (unsigned int i = 0; i < p->report.nr_hot; i++)
		if (!least || p->report.hot[i].count < least->count)
			least = &p->report.hot[i];
	return least->count < count ? least : NULL;
}

void hot_add(struct process *p, uint64_t count, const char *object, const char *function)
{
	struct hot *hot = hot_find(p, object, function);

	if (hot) {
		hot->count += count;
		return;
	}
	hot = hot_place(p, count);
	if (!hot)
		return;
	hot->count = count;
	snprintf(hot->object, sizeof(hot->object), "%s", object);
	snprintf(hot->function, sizeof(hot->function), "%s", function);
}

static int by_count(const void *va, const void *vb)
{
	const struct hot *a = va, *b = vb;

	return a->count != b->count ? (a->count < b->count ? 1 : -1) : strcmp(a->function, b->function);
}

void hot_sort(struct process *p)
{
	if (p->report.hot)
		qsort(p->report.hot, p->report.nr_hot, sizeof(*p->report.hot), by_count);
}

void hot_clear(struct process *p)
{
	free(p->report.hot);
	p->report.hot = NULL;
	p->report.nr_hot = 0;
}
