/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What tracing costs. An agent tells its whole state each time, so the latest replaces the one before.
 * When the last tree with a budget has ended, the agent tells that there is no budget any more: the
 * summary is about the budget that there was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/say.h"
#include "cli/run/budget.h"
#include "cli/run/hot.h"

#define BUDGET_SHOWN	8u
#define BUDGET_ADVICE	100u	/* 1/1000: the one that is thought about when none was given */
#define ADVICE_TIMES	50u
#define BUDGET_CALLS	1000u	/* fewer are not worth an advice */

static void list_clear(struct budget *b)
{
	size_t i;

	for (i = 0; i < b->count; i++) {
		free(b->list[i].object);
		free(b->list[i].function);
	}
	b->count = 0;
}

void budget_told(struct budget *b, const struct spi_budget_told *told)
{
	unsigned int was = b->told.budget;

	b->told = *told;
	if (!told->budget && was)
		b->told.budget = was;
	else
		list_clear(b);
}

static struct budget_out *out_get(struct budget *b, const char *object, const char *function)
{
	struct budget_out *list;
	size_t i;

	for (i = 0; i < b->count; i++)
		if (!strcmp(b->list[i].function, function) && !strcmp(b->list[i].object, object))
			return &b->list[i];
	if (b->count == b->room) {
		size_t room = b->room ? b->room * 2 : 32;

		list = realloc(b->list, room * sizeof(*list));
		if (!list)
			return NULL;
		b->list = list;
		b->room = room;
	}
	list = &b->list[b->count];
	memset(list, 0, sizeof(*list));
	list->object = strdup(object);
	list->function = strdup(function);
	if (list->object && list->function) {
		b->count++;
		return list;
	}
	free(list->object);
	free(list->function);
	return NULL;
}

void budget_left_out(struct budget *b, const struct spi_left_out_told *told)
{
	struct budget_out *out = out_get(b, told->object, told->function);

	if (!out)
		return;
	out->calls += told->calls;
	out->share = told->share > out->share ? told->share : out->share;
	out->out += told->is_out != 0;
	out->back += told->is_out == 0;
}

void budget_add(struct budget *all, struct budget *one)
{
	size_t i;

	if (one->told.budget)
		all->told.budget = one->told.budget;
	all->told.own += one->told.own;
	all->told.spent += one->told.spent;
	all->told.records += one->told.records;
	for (i = 0; i < one->count; i++) {
		const struct budget_out *from = &one->list[i];
		struct budget_out *to = out_get(all, from->object, from->function);

		if (!to)
			continue;
		to->calls += from->calls;
		to->share = from->share > to->share ? from->share : to->share;
		to->out += from->out;
		to->back += from->back;
	}
	budget_free(one);
}

static double percent(uint64_t part, uint64_t of)
{
	return of ? 100.0 * (double) part / (double) of : 0;
}

static int by_share(const void *va, const void *vb)
{
	const struct budget_out *a = va, *b = vb;

	if (a->share != b->share)
		return a->share < b->share ? 1 : -1;
	return a->calls != b->calls ? (a->calls < b->calls ? 1 : -1) : strcmp(a->function, b->function);
}

static void say_left_out(struct budget *b)
{
	size_t i;

	say("Budget %g %%: tracing took about %.1f %% of the program's own time", b->told.budget / 10.0,
		percent(b->told.spent, b->told.own));
	if (!b->count) {
		say("  nothing had to be left out");
		return;
	}
	qsort(b->list, b->count, sizeof(*b->list), by_share);
	say("Functions left out, with their share of the cost before that, and their calls recorded by then:");
	for (i = 0; i < b->count && (say_verbose || i < BUDGET_SHOWN); i++)
		say("  %5.1f %%  %12llu  %.255s:%.2000s%s", b->list[i].share / 10.0, (unsigned long long) b->list[i].calls,
			b->list[i].object, b->list[i].function, b->list[i].out ? "" : ", recorded again later");
	if (i < b->count)
		say("  and %zu more; the trace names them (spi_tree:budget), and --verbose", b->count - i);
}

/* Without one: what it would be good for. Shares of calls stand for shares of the time. */
static void say_advice(const struct budget *b, const struct hot_list *hot, uint64_t calls)
{
	/* where the records took nearly all there was, what is left of it says little */
	uint64_t least = b->told.records / ADVICE_TIMES, own = b->told.own > least ? b->told.own : least;
	double took = percent(b->told.records, own), rest = took, saved = 0;
	size_t n = 0;
	char first[32];

	if (calls < BUDGET_CALLS || took <= BUDGET_ADVICE / 10.0)
		return;
	for (; n < hot->count && rest > BUDGET_ADVICE / 10.0; n++) {
		double share = percent(hot->list[n].count, calls);

		saved += share;
		rest -= took * share / 100;
	}
	if (!n)
		return;
	snprintf(first, sizeof(first), n > 1 ? "first %zu" : "first", n);
	say("Recording took about %.0f %% of the program's own time", took);
	say("  --budget %u would leave out the %s of these functions%s, and %.0f %% of the events", BUDGET_ADVICE / 10, first,
		rest > BUDGET_ADVICE / 10.0 ? " and more" : "", saved > 100 ? 100 : saved);
}

void budget_say(struct budget *b, const struct hot_list *hot, uint64_t calls)
{
	if (b->told.budget)
		say_left_out(b);
	else
		say_advice(b, hot, calls);
}

void budget_free(struct budget *b)
{
	list_clear(b);
	free(b->list);
	memset(b, 0, sizeof(*b));
}
