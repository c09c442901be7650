/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the broker keeps of rules that are gone, and how many of them one user may have. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/rules/ruleset.h"

#define ONE_USERS 20000		/* as in ruleset.c */

static unsigned int checks, failures;

static void check(int good, const char *name)
{
	checks++;
	failures += !good;
	printf("%sok %u - %s\n", good ? "" : "not ", checks, name);
}

/* A session with n rules more, "spi:PREFIXnumber_entry" from that number on. */
static int add(struct ruleset *set, uid_t owner, const char *prefix, unsigned int from, unsigned int n)
{
	struct session *session = ruleset_add_session(set, "s", owner, "");
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	int ret;

	fprintf(file, "channel\tc\ton\n");
	for (unsigned int i = 0; i < n; i++)
		fprintf(file, "event\tspi:%s%u_entry\ton\n", prefix, from + i);
	fprintf(file, "end\n");
	fclose(file);
	file = fmemopen(text, size, "r");
	ret = ruleset_add_lines(set, session, file);
	fclose(file);
	free(text);
	return ret;
}

static struct rule *last_of(struct ruleset *set)
{
	struct rule *rule = set->rules;

	while (rule && rule->next)
		rule = rule->next;
	return rule;
}

static void forgetting(void)
{
	struct ruleset *set, *next;
	struct request *held;
	uint32_t id, other;
	int good = 1;

	for (unsigned int i = 0; i < 20; i++) {
		set = ruleset_create();
		good &= !add(set, 0, "f", i * 10000, 10000) && request_count() == 10000;
		ruleset_free(set);
		good &= !request_count();
	}
	check(good, "of 200 000 requests of 20 rulesets none is left, and there is room for each");

	set = ruleset_create();
	add(set, 0, "g", 0, 3);
	held = request_hold(last_of(set)->requests[0]);
	id = held->id;
	ruleset_free(set);
	check(request_count() == 3 && !request_at(0) && request_at(2) == held, "one that an agent has stays, in its place");
	set = ruleset_create();
	add(set, 0, "h", 0, 2);
	check(request_count() == 3 && request_at(0) && request_at(1), "what comes next has the places that are free");
	add(set, 0, "g", 2, 1);
	check(last_of(set)->requests[0] == held, "who wants the same has that one");
	request_put(held);
	check(request_at(2) == held, "a rule has it still");
	next = ruleset_create();
	add(next, 0, "g", 2, 1);
	ruleset_free(set);
	check(request_at(2) == held && request_count() == 3, "and the next ruleset, as the former one goes");
	ruleset_free(next);
	check(!request_count(), "then nobody");
	set = ruleset_create();
	add(set, 0, "x", 0, 1);
	add(set, 0, "g", 2, 1);
	other = last_of(set)->requests[0]->id;
	check(other == id && last_of(set)->requests[0]->index == 1, "when it comes again it has its number, and another place");
	ruleset_free(set);
}

struct numbered { uint32_t id; unsigned int n; };

static int by_id(const void *va, const void *vb)
{
	const struct numbered *a = va, *b = vb;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* Two requests whose numbers would be the same: the second must not have one that an agent may still know. */
static void numbers(void)
{
	enum { TRIED = 400000 };
	struct numbered *all = calloc(TRIED, sizeof(*all));
	struct ruleset *set;
	uint32_t first;
	unsigned int i;

	for (i = 0; i < TRIED; i++) {
		char text[20];

		all[i] = (struct numbered) { .id = 0x811c9dc5u, .n = i * 2654435761u };
		snprintf(text, sizeof(text), "q%u", all[i].n);
		for (const char *c = text; *c; c++)
			all[i].id = (all[i].id ^ (unsigned char) *c) * 0x01000193u;
	}
	qsort(all, TRIED, sizeof(*all), by_id);
	for (i = 1; i < TRIED && all[i].id != all[i - 1].id; i++)
		;
	if (i == TRIED) {
		check(0, "there are two with the same sum");
		free(all);
		return;
	}
	set = ruleset_create();
	add(set, 0, "q", all[i].n, 1);
	first = set->rules->requests[0]->id;
	ruleset_free(set);
	set = ruleset_create();
	add(set, 0, "q", all[i - 1].n, 1);
	check(first == all[i].id && set->rules->requests[0]->id == first + 1,
	      "the number of one that was just forgotten is not another's");
	ruleset_free(set);
	free(all);
}

static void bounds(void)
{
	struct ruleset *set = ruleset_create(), *same;
	struct rule *rule;
	char text[1000] = "";
	unsigned int listed = 0;

	check(!add(set, 1000, "f", 0, ONE_USERS), "as many as one user may have");
	rule = last_of(set);
	check(rule_instruments(rule) && !ruleset_describe_beyond(set, set->accounts, text, sizeof(text)), "they all count");
	check(!add(set, 1000, "more", 0, 5), "five more are taken");
	rule = last_of(set);
	check(rule->parsed == -EDQUOT && !rule_instruments(rule) && !strcmp(rule->name, "spi:more4_entry") && strstr(rule->why, "20000"),
	      "by name, with the reason why they do nothing");
	check(ruleset_describe_beyond(set, set->accounts, text, sizeof(text)) &&
	      !strcmp(text, "uid 1000 has 20005 rules of provider spi: one user may have 20000, and 5 instrument nothing, the first of "
			    "them spi:more0_entry of session s"), text);
	ruleset_add_trigger(set, "t", 1000, "spi:trigger_entry", false, "");
	rule = last_of(set);
	check(rule->parsed == -EDQUOT && !strcmp(rule->trigger, "t"), "a trigger's likewise");
	check(!add(set, 1001, "g", 0, 1) && rule_instruments(last_of(set)), "another user's rule is none of them");
	ruleset_add_trigger(set, "u", 1001, "spi:trigger_entry", false, "");
	check(rule_instruments(last_of(set)), "nor is his trigger's");
	check(!add(set, 1000, "most", 0, 30000), "any number is taken");
	for (rule = set->rules; rule; rule = rule->next)
		listed += rule->parsed == -EDQUOT;
	check(listed == 1000, "of which a thousand are listed");
	for (const struct account *a = set->accounts; a; a = a->next)
		if (ruleset_describe_beyond(set, a, text, sizeof(text)))
			check(a->uid == 1000 && !!strstr(text, "has 50006 rules"), "and all are counted");
	same = ruleset_create();
	add(same, 1000, "f", 0, ONE_USERS);
	check(!ruleset_equal(same, set), "others are not the same");
	ruleset_free(same);
	ruleset_free(set);
	check(!request_count(), "nothing is left");
}

int main(void)
{
	forgetting();
	numbers();
	bounds();
	printf("1..%u\n", checks);
	return failures != 0;
}
