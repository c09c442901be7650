/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The place of the agent among the handlers of fork(). libc runs what comes before the fork from the last that was
 * registered to the first, and what comes after it the other way round. The agent registers late, in an injected process last
 * of all; so all others' handlers would run while it holds locks that any thread may need, lttng-ust's
 * among them, which a thread takes at its end. Handlers do wait for threads: OpenBLAS ends its own before each fork.
 *
 * libc has no way to come first. But whoever is first can be called from the agent: in libc's list the three functions of the
 * first entry are exchanged for these here, each by one store, so that a fork that is under way
 * finds the one or the other. The list is looked for in libc's data by the entry that was just made; where it is not as
 * expected, the agent stays where it is. An allocator with locks of its own remains before the agent, which
 * allocates: the entry behind it is the first one then.
 *
 * The last entry, the agent's own, stays, for when the library that the first one belongs to is unloaded.
 */
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/process/internal.h"

#define ROOM	48u		/* entries that libc has within the list; with more of them it is elsewhere */

struct handler {
	void (*prepare)(void), (*parent)(void), (*child)(void);
	void *dso;		/* and a number, since glibc 2.36 */
};

struct list {
	uint64_t used, room;
	uint8_t *entries;
	uint8_t within[];
};

struct found {
	const struct handler *ours;
	struct list *list;
	uint64_t stride;
};

static struct list *list;
static uint64_t stride;
static struct handler first;	/* as it was */
static const struct spi_fork_handlers *agent;

static void first_prepare(void)
{
	if (first.prepare)
		first.prepare();
	agent->before();
}

static void first_parent(void)
{
	agent->in_parent();
	if (first.parent)
		first.parent();
}

static void first_child(void)
{
	agent->in_child();
	if (first.child)
		first.child();
}

static struct handler *entry(const struct list *in, uint64_t size, uint64_t i)
{
	return (struct handler *) (in->entries + i * size);
}

static int is_list(struct list *at, const uint8_t *end, struct found *found)
{
	if (at->room != ROOM || !at->used || at->used > ROOM || at->entries != at->within)
		return 0;
	for (found->stride = sizeof(struct handler); found->stride <= sizeof(struct handler) + 8; found->stride += 8) {
		const struct handler *last = entry(at, found->stride, at->used - 1);

		if ((const uint8_t *) (last + 1) + 8 > end)
			return 0;
		/* of one entry alone only its number, from 1 on, tells whether entries have numbers */
		if (at->used == 1 && found->stride == sizeof(*last) && *(const uint64_t *) (last + 1) - 1 < UINT32_MAX)
			continue;
		if (!memcmp(last, found->ours, 3 * sizeof(last->prepare)))
			return 1;
	}
	return 0;
}

static int find_in_libc(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	struct found *found = data;

	(void) size;
	if (strcmp(slash ? slash + 1 : info->dlpi_name, "libc.so.6") != 0)
		return 0;
	for (int i = 0; i < info->dlpi_phnum && !found->list; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint8_t *at = (uint8_t *) ((info->dlpi_addr + ph->p_vaddr + 7) & ~UINT64_C(7));
		uint8_t *end = (uint8_t *) (info->dlpi_addr + ph->p_vaddr + ph->p_memsz);

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_W))
			continue;
		for (; at + sizeof(struct list) <= end && !found->list; at += 8)
			if (is_list((struct list *) at, end, found))
				found->list = (struct list *) at;
	}
	return 1;
}

static int defines_malloc(const struct handler *h)
{
	void (*any)(void) = h->prepare ? h->prepare : h->parent ? h->parent : h->child;

	return any && spi_symbol_beside("malloc", (uint64_t) any) != NULL;
}

/* The entry that comes first, but for an allocator's; the last one: there is nobody to come before. */
static uint64_t first_of(const struct list *in, uint64_t size)
{
	uint64_t i = in->used - 1;

	if ((void *) malloc == spi_find_in_libc("malloc"))
		return 0;
	while (i && !defines_malloc(entry(in, size, i - 1)))
		i--;
	return i ? i : in->used - 1;
}

void spi_fork_come_first(const struct spi_fork_handlers *ours)
{
	struct handler is = { ours->last_before, ours->last_parent, ours->last_child, NULL }, *h;
	struct found found = { .ours = &is };
	uint64_t i;

	dl_iterate_phdr(find_in_libc, &found);
	if (!found.list)
		return;
	stride = found.stride;
	i = first_of(found.list, found.stride);
	if (i >= found.list->used - 1)
		return;
	h = entry(found.list, found.stride, i);
	first = *h;
	agent = ours;
	/* After a fork that is under way there is nothing to be done, before it there would be. */
	__atomic_store_n(&h->parent, first_parent, __ATOMIC_RELEASE);
	__atomic_store_n(&h->child, first_child, __ATOMIC_RELEASE);
	__atomic_store_n(&h->prepare, first_prepare, __ATOMIC_RELEASE);
	__atomic_store_n(&list, found.list, __ATOMIC_RELEASE);
}

int spi_fork_is_first(void)
{
	const struct list *in = __atomic_load_n(&list, __ATOMIC_ACQUIRE);

	for (uint64_t i = 0; in && i < in->used; i++)
		if (entry(in, stride, i)->prepare == first_prepare)
			return 1;
	return 0;
}
