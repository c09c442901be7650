/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What rules request of agents. An agent's rule goes by a number made of its text, so that
 * the same request has the same number in every process, in the next ruleset, and
 * for the next broker. A child of a fork that brings its parent's rules along is
 * then known to have them.
 *
 * A request that no rule wants and no agent has that we know is forgotten, and its place is another's. Its number is not
 * at once: programs that were forked or executed and have not come yet may know it. And they are told what it stands for
 * (SPI_MSG_RULES_KEEP).
 */
#include <stdlib.h>
#include <string.h>

#include "broker/rules/ruleset.h"
#include "liblttng-spi/base/agent-proto.h"

#define FORGOTTEN_MAX	4096u

static struct request **requests;	/* by index */
static unsigned int nr_requests, room, first_free;
static struct request *forgotten[FORGOTTEN_MAX];	/* the last ones, in turn, by index: their numbers are not given away yet */
static unsigned int next_forgotten;
static struct spi_hash_link *buckets[4096];
static struct spi_hash by_id = SPI_HASH_OVER(buckets);

static struct request *request_by_id(uint32_t id)
{
	struct request *r = spi_hash_find(&by_id, spi_hash_number(id));

	while (r && r->id != id)
		r = spi_hash_again(&r->link);
	return r;
}

static void request_free(struct request *request)
{
	spi_hash_remove(&by_id, &request->link);
	free(request);
}

/* The first place that is free. -1: no memory. */
static int place_take(struct request *request)
{
	struct request **more;

	while (first_free < nr_requests && requests[first_free])
		first_free++;
	if (first_free == room) {
		more = realloc(requests, (room ? 2 * room : 64) * sizeof(*requests));
		if (!more)
			return -1;
		requests = more;
		room = room ? 2 * room : 64;
	}
	if (first_free == nr_requests)
		nr_requests++;
	requests[first_free] = request;
	return first_free;
}

/* One that was forgotten lately is itself again. */
static struct request *request_recall(struct request *r)
{
	int place = place_take(r);

	if (place < 0)
		return NULL;
	forgotten[r->index] = NULL;
	r->index = place;
	return request_hold(r);
}

/* What the broker has to know of the rule. */
static void request_look(struct request *r)
{
	char strings[sizeof(((struct spi_event_request *) NULL)->text)], why[SPI_RULE_WHY];
	struct spi_rule rule;

	r->is_tree = r->is_compact = r->follows_exec = false;
	if (spi_rule_read(&rule, r->text, SPI_FORM_AGENT, strings, sizeof(strings), why))
		return;
	r->is_tree = spi_rule_is_tree(&rule);
	r->is_compact = rule.compact || (r->flags & SPI_RULE_COMPACT);
	r->follows_exec = r->is_tree && !(rule.unfollowed & SPI_FOLLOW_EXEC);
}

struct request *request_get(const char *text, uint32_t flags)
{
	uint32_t id = 0x811c9dc5u ^ flags;
	struct request *r;
	int place;

	for (const unsigned char *c = (const unsigned char *) text; *c; c++)
		id = (id ^ *c) * 0x01000193u;
	for (; (r = request_by_id(id)); id++)
		if (r->flags == flags && !strcmp(r->text, text))
			return r->refs ? request_hold(r) : request_recall(r);
	r = malloc(sizeof(*r) + strlen(text) + 1);
	place = r ? place_take(r) : -1;
	if (place < 0) {
		free(r);
		return NULL;
	}
	r->id = id;
	r->flags = flags;
	r->sum = spi_rule_sum(flags, text);
	r->index = place;
	r->refs = 1;
	strcpy(r->text, text);
	request_look(r);
	spi_hash_add(&by_id, &r->link, spi_hash_number(id));
	return r;
}

struct request *request_hold(struct request *request)
{
	if (request)
		request->refs++;
	return request;
}

void request_put(struct request *request)
{
	if (!request || --request->refs)
		return;
	requests[request->index] = NULL;
	if (request->index < first_free)
		first_free = request->index;
	while (nr_requests && !requests[nr_requests - 1])
		nr_requests--;
	request->index = next_forgotten++ % FORGOTTEN_MAX;
	if (forgotten[request->index])
		request_free(forgotten[request->index]);
	forgotten[request->index] = request;
}

unsigned int request_count(void)
{
	return nr_requests;
}

struct request *request_at(unsigned int index)
{
	return index < nr_requests ? requests[index] : NULL;
}
