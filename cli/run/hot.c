/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The busiest functions. Agents tell, process by process, what was added since they last told, so the
 * same names come again and again. Names are appended, and merged whenever the room is used up.
 *
 * In most programs a few small functions make most of the calls. Leaving one out saves its own events
 * at least; the events of functions that are reached only through it come on top.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/say.h"
#include "cli/run/hot.h"

#define HOT_SHOWN	8u
#define HOT_SHARE_MIN	1	/* percent: less is not worth a line */
#define HOT_ADVICE_MIN	10	/* percent: the same for an advice */
#define HOT_ADVICE_CALLS	1000u	/* a trace of fewer is small enough */

static int by_name(const void *va, const void *vb)
{
	const struct hot *a = va, *b = vb;
	int c = strcmp(a->object, b->object);

	return c ? c : strcmp(a->function, b->function);
}

static int by_count(const void *va, const void *vb)
{
	const struct hot *a = va, *b = vb;

	return a->count != b->count ? (a->count < b->count ? 1 : -1) : by_name(va, vb);
}

static void hot_merge(struct hot_list *hot)
{
	size_t i, n = 0;

	if (hot->merged == hot->count)
		return;
	qsort(hot->list, hot->count, sizeof(*hot->list), by_name);
	for (i = 0; i < hot->count; i++) {
		if (n && !by_name(&hot->list[n - 1], &hot->list[i])) {
			hot->list[n - 1].count += hot->list[i].count;
			free(hot->list[i].object);
			free(hot->list[i].function);
		} else {
			hot->list[n++] = hot->list[i];
		}
	}
	hot->count = hot->merged = n;
}

static int hot_make_room(struct hot_list *hot)
{
	struct hot *list;

	if (hot->count < hot->room)
		return 0;
	hot_merge(hot);
	if (hot->room && hot->count <= hot->room / 2)
		return 0;
	list = realloc(hot->list, (hot->room ? hot->room * 2 : 256) * sizeof(*list));
	if (!list)
		return -1;
	hot->list = list;
	hot->room = hot->room ? hot->room * 2 : 256;
	return 0;
}

void hot_add(struct hot_list *hot, uint64_t count, const char *object, const char *function)
{
	struct hot one = { .count = count };

	if (!count || hot_make_room(hot) < 0)
		return;
	one.object = strdup(object);
	one.function = strdup(function);
	if (one.object && one.function) {
		hot->list[hot->count++] = one;
		return;
	}
	free(one.object);
	free(one.function);
}

/* A C++ name as a pattern that means it and nothing else, in quotes where a shell needs them. 0: it is too long for that. */
static int say_pattern(char *to, size_t size, const char *function)
{
	size_t at = 0, quote = strcspn(function, " '\"()<>&|;*?[]\\$`~#") < strlen(function);

	if (quote && at < size)
		to[at++] = '\'';
	for (; *function && at + 8 < size; function++) {
		if (strchr("*?[\\", *function))
			to[at++] = '\\';
		if (*function == '\'') {
			memcpy(to + at, "'\\'", 3);
			at += 3;
		}
		to[at++] = *function;
	}
	if (quote)
		to[at++] = '\'';
	to[at] = '\0';
	return !*function;
}

static void say_advice(const struct hot_list *hot, uint64_t calls)
{
	char text[1200] = "", pattern[400];
	size_t used = 0, i;
	uint64_t saved = 0;

	if (calls < HOT_ADVICE_CALLS)
		return;
	for (i = 0; i < hot->count && i < 3 && hot->list[i].count * 100 >= calls * HOT_ADVICE_MIN; i++) {
		if (!say_pattern(pattern, sizeof(pattern) - 1, hot->list[i].function) || used + strlen(pattern) + 16 > sizeof(text))
			break;
		used += (size_t) sprintf(text + used, " --exclude %s", pattern);
		saved += hot->list[i].count;
	}
	if (i)
		say("  leaving out the first%s, and what only %s, saves at least %.0f %% of the events:%s",
			i == 1 ? "" : i == 2 ? " two" : " three", i == 1 ? "it calls" : "they call",
			100.0 * (double) saved / (double) calls, text);
}

void hot_say(struct hot_list *hot, uint64_t calls)
{
	uint64_t told = 0;
	size_t i;

	hot_merge(hot);
	for (i = 0; i < hot->count; i++)
		told += hot->list[i].count;
	if (!told)
		return;
	if (calls < told)
		calls = told;
	qsort(hot->list, hot->count, sizeof(*hot->list), by_count);
	hot->merged = 0;	/* by name no more */
	if (hot->list[0].count * 100 < calls * HOT_SHARE_MIN)
		return;
	say("Most calls:");
	for (i = 0; i < hot->count && i < HOT_SHOWN && hot->list[i].count * 100 >= calls * HOT_SHARE_MIN; i++)
		say("  %5.1f %%  %12llu  %.255s:%.2000s", 100.0 * (double) hot->list[i].count / (double) calls,
			(unsigned long long) hot->list[i].count, hot->list[i].object, hot->list[i].function);
	say_advice(hot, calls);
}

void hot_free(struct hot_list *hot)
{
	size_t i;

	for (i = 0; i < hot->count; i++) {
		free(hot->list[i].object);
		free(hot->list[i].function);
	}
	free(hot->list);
	memset(hot, 0, sizeof(*hot));
}
