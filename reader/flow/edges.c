/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Who sent to whom: an edge for each pair of processes and kind of channel, and for what the ends are called. A client's
 * ports and unnamed sockets differ from connection to connection: they are one end, '*', and keep their name as long as
 * there is one of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reader/flow/flow.h"

#define EPHEMERAL	32768		/* the first port that Linux gives by itself */

struct flow_use {
	struct flow_use *next;
	struct flow_edge *edge;
};

/* The end of a channel with what differs between channels left out. */
static void end_text(const char *end, int is_other_named, char *text, size_t size)
{
	const char *colon = strrchr(end, ':');

	if (colon && colon[1] != '[' && strtol(colon + 1, NULL, 10) >= EPHEMERAL)
		snprintf(text, size, "%.*s:*", (int) (colon - end), end);
	else if (is_other_named && !strncmp(end, "socket:[", 8))
		snprintf(text, size, "socket:[*]");
	else
		snprintf(text, size, "%s", end);
}

static int is_named(const char *end)
{
	return *end && strncmp(end, "socket:[", 8) != 0;
}

static int end_set(char **text, const char *end, const char *common)
{
	char *copy;

	if (*text && !strcmp(*text, end))
		return 0;
	copy = strdup(*text ? common : end);
	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

static struct flow_edge *edge_get(struct flow *f, const struct flow_channel *c, const struct call_process *from,
	const struct call_process *to)
{
	char from_text[200], to_text[200], key[500];
	struct flow_edge *e;
	uint64_t hash;

	end_text(c->from, is_named(c->to), from_text, sizeof(from_text));
	end_text(c->to, is_named(c->from), to_text, sizeof(to_text));
	snprintf(key, sizeof(key), "%s\n%s\n%s", c->kind, from_text, to_text);
	hash = spi_hash_number(spi_hash_text((uintptr_t) from ^ spi_hash_number((uintptr_t) to), key));
	e = spi_hash_find(&f->edges, hash);
	while (e && (e->from != from || e->to != to || strcmp(e->key, key)))
		e = spi_hash_again(&e->link);
	if (!e) {
		e = calloc(1, sizeof(*e));
		if (!e)
			return NULL;
		e->from = from;
		e->to = to;
		e->kind = strdup(c->kind);
		e->latency.min = e->queue.min = INT64_MAX;
		e->key = strdup(key);
		spi_hash_add(&f->edges, &e->link, hash);
		if (!e->key || !e->kind)
			return NULL;
	}
	e->channels++;
	return end_set(&e->from_text, c->from, from_text) < 0 || end_set(&e->to_text, c->to, to_text) < 0 ? NULL : e;
}

static struct flow_edge *edge_of(struct flow *f, struct flow_channel *c, const struct call_process *from,
	const struct call_process *to)
{
	struct flow_use *use = c->uses;

	while (use && (use->edge->from != from || use->edge->to != to))
		use = use->next;
	if (use)
		return use->edge;
	use = calloc(1, sizeof(*use));
	if (!use)
		return NULL;
	use->edge = edge_get(f, c, from, to);
	if (!use->edge) {
		free(use);
		return NULL;
	}
	use->next = c->uses;
	c->uses = use;
	return use->edge;
}

int flow_edges_take(struct flow *f, const struct flow_message *m)
{
	const struct call_process *from = m->send->thread->process;
	struct flow_edge *e;
	int r = 0;

	if (!m->to) {			/* an edge to each process that may have it */
		for (uint32_t i = 0; i < m->candidate_count; i++) {
			const struct call_process *to = m->candidates[i]->thread->process;
			uint32_t k = 0;

			while (m->candidates[k]->thread->process != to)
				k++;
			e = k == i ? edge_of(f, m->send->channel, from, to) : NULL;
			if (k == i && !e)
				return -ENOMEM;
			if (e)
				e->ambiguous++;
		}
		return 0;
	}
	e = edge_of(f, m->send->channel, from, m->to);
	if (!e)
		return -ENOMEM;
	e->messages++;
	e->bytes += m->send->bytes;
	e->late += (m->send->flags & FLOW_LATE) != 0;
	e->unsure += !m->receive;
	if (m->receive)
		r = times_add(&e->latency, m->latency);
	return r == 0 && m->receive ? times_add(&e->queue, m->queue) : r;
}

static int by_messages(const void *a, const void *b)
{
	const struct flow_edge *x = *(const struct flow_edge *const *) a, *y = *(const struct flow_edge *const *) b;

	if (x->messages != y->messages)
		return x->messages > y->messages ? -1 : 1;
	if (x->from != y->from)
		return x->from->number < y->from->number ? -1 : 1;
	if (x->to != y->to)
		return x->to->number < y->to->number ? -1 : 1;
	return strcmp(x->key, y->key);
}

struct flow_edge **flow_edges_list(const struct flow *f, uint32_t *count)
{
	struct flow_edge **list = malloc((f->edges.count + 1) * sizeof(struct flow_edge *));

	*count = 0;
	if (!list)
		return NULL;
	for (struct flow_edge *e = spi_hash_next(&f->edges, NULL); e; e = spi_hash_next(&f->edges, &e->link))
		list[(*count)++] = e;
	qsort(list, *count, sizeof(struct flow_edge *), by_messages);
	return list;
}

void flow_edges_free(struct flow *f)
{
	for (struct flow_edge *e = spi_hash_next(&f->edges, NULL), *next; e; e = next) {
		next = spi_hash_next(&f->edges, &e->link);
		spi_hash_remove(&f->edges, &e->link);
		times_free(&e->latency);
		times_free(&e->queue);
		free(e->from_text);
		free(e->to_text);
		free(e->key);
		free(e->kind);
		free(e);
	}
	for (struct flow_channel *c = f->channel_list; c; c = c->next)
		for (struct flow_use *use = c->uses, *next; use; use = next) {
			next = use->next;
			free(use);
		}
}
