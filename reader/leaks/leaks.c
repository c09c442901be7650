/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* From events to processes, and what each has got and not given back. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/leaks/leaks.h"
#include "rules/glob.h"

/* ---- processes ---- */

static struct leak_process *process_begin(struct leaks *l, const struct space *space, const bt_event *event, int64_t ns)
{
	struct leak_process *p = calloc(1, sizeof(*p)), **end = &l->list;
	uint64_t vpid = UINT64_MAX;

	if (!p)
		return NULL;
	p->points = calloc(LEAK_POINTS, sizeof(*p->points));
	if (!p->points) {
		free(p);
		return NULL;
	}
	while (*end)
		end = &(*end)->next;
	*end = p;
	context_unsigned(event, "vpid", &vpid);
	p->space = space;
	p->pid = (int64_t) vpid;
	p->begun = BEGUN_UNKNOWN;
	p->groups = (struct spi_hash) SPI_HASH_OVER(p->group_buckets);
	p->first = p->points_from = ns;
	p->point_ns = 1000;
	snprintf(p->name, sizeof(p->name), "%s", context_string(event, "procname"));
	text_clean(p->name);
	return p;
}

static struct leak_process *process_of(struct leaks *l, const struct space *space, enum leak_event what,
	const bt_event *event, int64_t ns)
{
	struct leak_process *p = l->latest;

	if (!p || p->space != space || p->is_over)
		for (p = l->list; p && (p->space != space || p->is_over); p = p->next)
			;
	if (p && what == LEAK_PROCESS && p->calls + p->freed) {
		p->is_over = 1;		/* it has executed another program */
		p = NULL;
	}
	if (!p)
		p = process_begin(l, space, event, ns);
	l->latest = p;
	return p;
}

static int is_chosen(const struct leaks *l, const struct leak_process *p)
{
	char pid[24];

	if (!l->processes)
		return 1;
	snprintf(pid, sizeof(pid), "%" PRId64, p->pid);
	for (const char *const *glob = l->processes; *glob; glob++)
		if (spi_glob_match(*glob, p->name) || !strcmp(*glob, pid))
			return 1;
	return 0;
}

/* ---- taking ---- */

static int event_see(struct leaks *l, const bt_event *event, int64_t ns)
{
	struct leak_said said;
	struct leak_process *p;
	struct space *space;
	int r = leak_event_read(l, event, &said);

	if (r < 0 || said.what == LEAK_EVENTS)
		return r;
	space = names_space(&l->calls->merge, event);
	p = space ? process_of(l, space, said.what, event, ns) : NULL;
	said.stack = p ? leak_stack_get(l, space, said.callers, said.count) : NULL;
	said.ns = ns;
	if (!said.stack)
		return -ENOMEM;
	if (!is_chosen(l, p))
		return 0;
	l->events++;
	p->last = ns;
	if (said.what == LEAK_PROCESS) {
		p->begun = said.values[0] < BEGUN_UNKNOWN ? (enum leak_begun) said.values[0] : BEGUN_UNKNOWN;
		p->parent = (int64_t) said.values[1];
		p->heap_low = said.values[2];
		p->heap_mark = said.values[3];
		p->in_use = said.values[4];
		return 0;
	}
	if (said.what > LEAK_PROCESS)
		return leak_resource_take(p, &said);
	r = leak_memory_take(p, &said);
	leak_time_take(p, ns);
	return r;
}

int leaks_see(void *leaks, const bt_message *message)
{
	struct leaks *l = leaks;
	uint64_t count = 0;
	int64_t ns = 0;

	if (message_time(message, &ns) && l->at_text) {
		if (time_read(l->at_text, ns, &l->at) < 0) {
			say_error("--at %s: not a time, such as 12:47:45.2 or 2026-11-20T12:47:45", l->at_text);
			l->is_bad_time = 1;
			return -EINVAL;
		}
		l->at_text = NULL;
	}
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		return ns > l->at ? 0 : event_see(l, bt_message_event_borrow_event_const(message), ns);
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		bt_message_discarded_events_get_count(message, &count);
		l->lost += count & ~(UINT64_C(1) << 63);
		return 0;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		l->lost = UINT64_MAX;
		return 0;
	default:
		return 0;
	}
}

/* ---- begin and end ---- */

void leaks_init(struct leaks *l, struct calls *calls)
{
	memset(l, 0, sizeof(*l));
	l->calls = calls;
	l->at = INT64_MAX;
	l->frames = (struct spi_hash) SPI_HASH_OVER(l->frame_buckets);
	l->stacks = (struct spi_hash) SPI_HASH_OVER(l->stack_buckets);
}

static void process_drop(struct leak_process *p)
{
	for (uint32_t i = 0; i < p->group_count; i++) {
		free(p->list[i]->lifetimes);
		free(p->list[i]);
	}
	for (uint32_t i = 0; i < p->resource_count; i++)
		free(p->resources[i].text);
	free(p->list);
	free(p->blocks);
	free(p->incidents);
	free(p->resources);
	free(p->points);
	free(p);
}

void leaks_free(struct leaks *l)
{
	for (struct leak_process *p = l->list, *next; p; p = next) {
		next = p->next;
		process_drop(p);
	}
	leak_events_free(l);
	leak_stacks_free(l);
}
