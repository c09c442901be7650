/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which function called which: a tree with a node for each function below each way that led to it, over all threads.
 *
 * Events of whole calls come when the calls end, inner ones first. They are kept, and put in order at the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/views/views.h"

/* Calls beyond have no node: their self time counts to the node above. */
#define MOST	(UINT64_C(1) << 26)	/* nodes */
#define DEEPEST	10000u

static uint64_t hash_of(const struct path *parent, const struct call_function *f)
{
	return spi_hash_number(spi_hash_number((uintptr_t) parent) ^ (uintptr_t) f);
}

struct paths *paths_make(void)
{
	struct paths *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->size = 4096;
	p->table = calloc(p->size, sizeof(*p->table));
	if (!p->table) {
		free(p);
		return NULL;
	}
	return p;
}

void paths_free(struct paths *p)
{
	if (!p)
		return;
	for (uint64_t i = 0; i < p->size; i++)
		for (struct path *node = p->table[i], *next; node; node = next) {
			next = node->by_hash;
			free(node);
		}
	free(p->table);
	wholes_free(&p->wholes);
	free(p->nodes);
	free(p);
}

static int table_grow(struct paths *p)
{
	struct path **more = calloc(p->size * 4, sizeof(*more));

	if (!more)
		return -1;
	for (uint64_t i = 0; i < p->size; i++)
		for (struct path *node = p->table[i], *next; node; node = next) {
			struct path **at = &more[hash_of(node->parent, node->function) & (p->size * 4 - 1)];

			next = node->by_hash;
			node->by_hash = *at;
			*at = node;
		}
	free(p->table);
	p->table = more;
	p->size *= 4;
	return 0;
}

struct path *path_below(struct paths *p, struct path *parent, struct call_function *f)
{
	const uint64_t hash = hash_of(parent, f);
	struct path *node = p->table[hash & (p->size - 1)];

	while (node && (node->parent != parent || node->function != f))
		node = node->by_hash;
	if (node)
		return node;
	if (p->count >= MOST || parent->depth >= DEEPEST)
		return parent;
	if (p->count > p->size && table_grow(p) < 0)
		return NULL;
	node = calloc(1, sizeof(*node));
	if (!node)
		return NULL;
	node->parent = parent;
	node->depth = parent->depth + 1;
	node->function = f;
	node->next = parent->child;
	parent->child = node;
	node->by_hash = p->table[hash & (p->size - 1)];
	p->table[hash & (p->size - 1)] = node;
	node->number = (uint32_t) p->count++;
	return node;
}

static struct path *path_around(struct paths *p, const struct call *call, uint32_t depth)
{
	const struct call_thread *t = call->thread;

	while (depth && !t->stack[depth - 1].own)
		depth--;
	return depth ? t->stack[depth - 1].own : &p->top;
}

/* A call ended. around: the node of the call around it, which is its own, too, where there is no node any more. */
static void call_add(struct paths *p, struct path *node, const struct path *around, int64_t total, int64_t self)
{
	node->self += self;
	if (node == around) {
		p->beyond++;
		return;
	}
	node->calls++;
	node->total += total;
}

int paths_take(void *paths, const struct call *call)
{
	struct paths *p = paths;
	struct call_thread *t = call->thread;
	struct path *node;

	switch (call->kind) {
	case CALL_ENTRY:
		node = path_below(p, path_around(p, call, t->depth - 1), call->function);
		t->stack[t->depth - 1].own = node;
		return node ? 0 : -ENOMEM;
	case CALL_EXIT:
		if (call->begin == INT64_MIN)
			return 0;
		node = t->stack[t->depth].own;	/* just taken off */
		call_add(p, node, path_around(p, call, t->depth), call->ns - call->begin, call->self);
		return 0;
	case CALL_WHOLE:
		return wholes_add(&p->wholes, call, 0);
	case CALL_LOST:
	case CALL_EVENT:
		break;
	}
	return 0;
}

/* A whole call, whose caller is nodes[depth - 1]. */
static int whole_take(void *paths, const struct whole_call *w, uint32_t depth)
{
	struct paths *p = paths;
	struct path *node, *around;

	if (depth >= p->node_room) {
		uint32_t room = p->node_room ? p->node_room * 2 : 64;
		struct path **more = realloc(p->nodes, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->nodes = more;
		p->node_room = room;
	}
	around = depth ? p->nodes[depth - 1] : &p->top;
	node = path_below(p, around, w->function);
	if (!node)
		return -ENOMEM;
	call_add(p, node, around, w->end - w->begin, w->self);
	p->nodes[depth] = node;
	return 0;
}

int paths_end(struct paths *p)
{
	int r = wholes_give(&p->wholes, whole_take, p);

	free(p->nodes);
	p->nodes = NULL;
	p->node_room = 0;
	for (struct path *c = p->top.child; c; c = c->next)
		p->top.total += c->total;
	return r;
}

void paths_tell(const struct paths *p)
{
	if (p->beyond)
		say_warning("%llu calls are more than %u deep, or of too many different ways: their time is self time of the call "
			"around them", (unsigned long long) p->beyond, DEEPEST);
}

/* ---- order ---- */

static struct path *merge_lists(struct path *a, struct path *b)
{
	struct path head = { .next = NULL }, *last = &head;

	while (a && b) {
		struct path **from = a->total > b->total || (a->total == b->total && a->number < b->number) ? &a : &b;

		last->next = *from;
		last = *from;
		*from = (*from)->next;
	}
	last->next = a ? a : b;
	return head.next;
}

static struct path *list_sort(struct path *list)
{
	struct path *slow = list, *fast = list ? list->next : NULL, *second;

	if (!fast)
		return list;
	while (fast && fast->next) {
		slow = slow->next;
		fast = fast->next->next;
	}
	second = slow->next;
	slow->next = NULL;
	return merge_lists(list_sort(list), list_sort(second));
}

const struct path *path_next(const struct path *node, const struct path *top)
{
	if (node->child)
		return node->child;
	while (node != top && !node->next)
		node = node->parent;
	return node == top ? NULL : node->next;
}

void paths_sort(struct paths *p)
{
	for (struct path *node = &p->top; node; node = (struct path *) (uintptr_t) path_next(node, &p->top))
		node->child = list_sort(node->child);
}
