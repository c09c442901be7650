/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Descriptors, threads and address space, as a process has them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "reader/base/text.h"
#include "reader/leaks/leaks.h"

static struct leak_resource *resource_add(struct leak_process *p, enum leak_kind kind, uint64_t from, uint64_t size,
	const struct leak_stack *stack, int64_t ns)
{
	struct leak_resource *r;

	if (p->resource_count == p->resource_room) {
		const uint32_t room = p->resource_room ? p->resource_room * 2 : 64;
		struct leak_resource *more = realloc(p->resources, room * sizeof(*more));

		if (!more)
			return NULL;
		p->resources = more;
		p->resource_room = room;
	}
	r = &p->resources[p->resource_count++];
	*r = (struct leak_resource) { kind, from, size, stack, ns, NULL };
	return r;
}

static void resource_drop(struct leak_process *p, uint32_t at)
{
	free(p->resources[at].text);
	p->resources[at] = p->resources[--p->resource_count];
}

/* How many there were from `first` to `last`; they are gone. */
static uint32_t resources_end(struct leak_process *p, enum leak_kind kind, uint64_t first, uint64_t last)
{
	uint32_t n = 0;

	for (uint32_t i = p->resource_count; i--;)
		if (p->resources[i].kind == kind && p->resources[i].from >= first && p->resources[i].from <= last) {
			resource_drop(p, i);
			n++;
		}
	p->closed[kind] += n;
	return n;
}

/* It was made by a function, with the name or start that the function was given. */
static int resource_make(struct leak_process *p, enum leak_kind kind, uint64_t from, uint64_t size,
	const struct leak_said *said, const char *function, const char *with)
{
	struct leak_resource *r = resource_add(p, kind, from, size, said->stack, said->ns);

	if (!r)
		return -ENOMEM;
	if (asprintf(&r->text, "%s%s%s", function, *with ? " " : "", with) < 0) {
		r->text = NULL;
		return -ENOMEM;
	}
	text_clean(r->text);
	p->opened[kind]++;
	return 0;
}

/* What lies in the range is not mapped by anybody any more; parts of a mapping stay. */
static int range_end(struct leak_process *p, uint64_t from, uint64_t size)
{
	const uint64_t to = from + size;
	uint32_t known = 0;

	for (uint32_t i = p->resource_count; i--;) {
		struct leak_resource *r = &p->resources[i];
		const uint64_t end = r->from + r->size;

		if (r->kind != LEAK_MAPPING || r->from >= to || end <= from)
			continue;
		known++;
		if (r->from < from && end > to) {
			const struct leak_resource whole = *r;

			r->size = from - r->from;
			r = resource_add(p, LEAK_MAPPING, to, end - to, whole.stack, whole.ns);
			if (!r || !(r->text = strdup(whole.text)))
				return -ENOMEM;
		} else if (r->from < from) {
			r->size = from - r->from;
		} else if (end > to) {
			r->from = to;
			r->size = end - to;
		} else {
			resource_drop(p, i);
			p->closed[LEAK_MAPPING]++;
		}
	}
	p->unknown[LEAK_MAPPING] += !known;
	return 0;
}

#define PAGES(size)	(((size) + 4095) & ~UINT64_C(4095))

static int mapping_make(struct leak_process *p, uint64_t from, uint64_t size, const struct leak_said *said,
	const char *how)
{
	const uint64_t unknown = p->unknown[LEAK_MAPPING];
	const int e = range_end(p, from, PAGES(size));	/* MAP_FIXED */

	p->unknown[LEAK_MAPPING] = unknown;
	return e < 0 ? e : resource_make(p, LEAK_MAPPING, from, PAGES(size), said, how, "");
}

static void break_set(struct leak_process *p, uint64_t now)
{
	p->break_now = now;
	if (!p->break_low || now < p->break_low)
		p->break_low = now;
	if (now > p->break_most)
		p->break_most = now;
}

int leak_resource_take(struct leak_process *p, const struct leak_said *said)
{
	const uint64_t *v = said->values;
	char start[40];
	int e;

	switch (said->what) {
	case LEAK_OPEN:
		resources_end(p, LEAK_DESCRIPTOR, v[0], v[0]);	/* dup2() closes */
		return resource_make(p, LEAK_DESCRIPTOR, v[0], 0, said, said->texts[1], said->texts[2]);
	case LEAK_CLOSE:
		if (!resources_end(p, LEAK_DESCRIPTOR, v[0], v[0]))
			p->unknown[LEAK_DESCRIPTOR]++;
		return 0;
	case LEAK_CLOSE_RANGE:
		resources_end(p, LEAK_DESCRIPTOR, v[0], v[1]);
		return 0;
	case LEAK_THREAD_CREATE:
		if (v[2]) {
			p->opened[LEAK_THREAD]++;
			p->closed[LEAK_THREAD]++;
			return 0;
		}
		snprintf(start, sizeof(start), "0x%" PRIx64, v[1]);
		return resource_make(p, LEAK_THREAD, v[0], 0, said, "pthread_create", start);
	case LEAK_THREAD_JOIN:
	case LEAK_THREAD_DETACH:
		if (!resources_end(p, LEAK_THREAD, v[0], v[0]))
			p->unknown[LEAK_THREAD]++;
		return 0;
	case LEAK_MMAP:
		return mapping_make(p, v[0], v[1], said, v[2] & MAP_ANONYMOUS ? "mmap" : "mmap of a file");
	case LEAK_MUNMAP:
		return range_end(p, v[0], PAGES(v[1]));
	case LEAK_MREMAP:
		e = range_end(p, v[0], PAGES(v[1]));
		return e < 0 ? e : mapping_make(p, v[2], v[3], said, "mremap");
	case LEAK_BRK:
		break_set(p, v[0]);
		return 0;
	default:
		return 0;
	}
}
