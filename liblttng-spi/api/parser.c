/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Parsers of a user's own. A call of a tree that leads to code which no object has comes here before the callee runs
 * (tree/made.c), in the program's thread. The parser is called as an entry payload is, under the same guard, and where
 * an entry payload could not be called the parser is not asked: the next call asks.
 */
#include <errno.h>
#include <string.h>
#include "liblttng-spi/tree/made.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/api/internal.h"

#define WAIT_LOOKS	200u	/* for another thread's parser */
#define WAIT_US		250u

static struct spi_agent *agents;	/* that have a parser; only ever grows */
static int asking;			/* id of the thread that is in a parser; 0: none is */

struct ask {
	const struct spi_parser *parser;
	struct spi_parser_region region;
	uint64_t code;
	const char *why;
	int result;		/* of the parser; or of spi_made_add() */
	int is_filled;
};

static int copy_region(struct spi_parser_region *to, const struct spi_parser_region *from)
{
	memset(to, 0, sizeof(*to));
	if (!from || from->size < sizeof(from->size))
		return -EINVAL;
	memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
	return 0;
}

/* As an entry payload, which has two arguments. What the parser gives is read here, too: a fault is the parser's. */
static void *find(struct ask *ask, void *unused)
{
	int r = ask->parser->find(&ask->region, ask->code, ask->parser->data);

	(void) unused;
	if (r < 0)
		return NULL;
	ask->is_filled = 1;
	if (ask->code >= ask->region.low && ask->code < ask->region.high)
		ask->result = spi_made_add(&ask->region, NULL, &ask->why);
	return NULL;
}

/* One agent's parser is asked. 0: a region has the code; -ENOENT, -EAGAIN. */
static int ask_one(struct spi_agent *agent, uint64_t code, uint64_t p)
{
	struct ask ask = {
		.parser = &agent->parser, .region = { .size = sizeof(ask.region) }, .code = code,
		.why = "it does not have the address", .result = -EINVAL,
	};
	const int r = spi_client_ask(agent->client, p, (void *) find, &ask);

	if (r < 0 || !ask.is_filled)
		return r < 0 ? r : -ENOENT;
	if (ask.result == 0 || ask.result == -EAGAIN)
		return ask.result;
	spi_note("payload %s: its parser's region for 0x%lx is not taken: %s", agent->client->name, code, ask.why);
	return -ENOENT;
}

/* A thread that has ended in its parser, or one of the parent's, in a forked child. */
static int owner_is_gone(int owner)
{
	const uint64_t process = (uint64_t) spi_raw3(SYS_getpid, 0, 0, 0);

	return spi_raw3(SYS_tgkill, process, (uint64_t) owner, 0) == -ESRCH;
}

static int asking_take(int *owner, int self)
{
	return __atomic_compare_exchange_n(&asking, owner, self, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* 0, or -EAGAIN: another thread is in a parser, or this one is, and a signal's handler makes the call. */
static int asking_begin(int self)
{
	for (uint32_t i = 0; i < WAIT_LOOKS; i++) {
		int owner = 0;

		if (asking_take(&owner, self))
			return 0;
		if (owner == self)
			return -EAGAIN;
		if (owner_is_gone(owner) && asking_take(&owner, self))
			return 0;
		spi_sleep_us(WAIT_US);
	}
	return -EAGAIN;
}

static int ask_all(uint64_t code, uint32_t trees, uint64_t p)
{
	const int self = (int) spi_raw3(SYS_gettid, 0, 0, 0);
	int result = -ENOENT, one;

	if (asking_begin(self) < 0)
		return -EAGAIN;
	if (spi_tree_object_at(code))		/* while this thread waited */
		result = 0;
	for (struct spi_agent *a = __atomic_load_n(&agents, __ATOMIC_ACQUIRE); a && result; a = a->next) {
		one = a->parser.find && (a->client->trees & trees) ? ask_one(a, code, p) : -ENOENT;
		if (one != -ENOENT)
			result = one;
	}
	__atomic_store_n(&asking, 0, __ATOMIC_RELEASE);
	return result;
}

SPI_API int spi_agent_set_parser(struct spi_agent *agent, const struct spi_parser *parser)
{
	struct spi_agent *a = agents;

	if (!agent || agent->has_gone || (parser && (parser->size < sizeof(*parser) || !parser->find)))
		return -EINVAL;
	memset(&agent->parser, 0, sizeof(agent->parser));
	if (!parser)
		return 0;
	agent->parser = *parser;
	while (a && a != agent)
		a = a->next;
	if (!a) {
		agent->next = agents;
		__atomic_store_n(&agents, agent, __ATOMIC_RELEASE);
	}
	spi_made_ask_again();
	__atomic_store_n(&spi_made_ask, ask_all, __ATOMIC_RELEASE);
	return 0;
}

SPI_API int spi_agent_add_region(struct spi_agent *agent, const struct spi_parser_region *region,
	struct spi_object **object)
{
	struct spi_parser_region asked;
	const char *why = "";
	int r = agent ? copy_region(&asked, region) : -EINVAL;

	if (r == 0)
		r = spi_made_add(&asked, object, &why);
	if (r < 0 && agent)
		spi_format(agent->error, sizeof(agent->error), "%s", why);
	return r;
}

SPI_API int spi_region_forget(struct spi_object *region)
{
	return spi_made_forget(region);
}
