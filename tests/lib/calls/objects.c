/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A process has epochs, in each of which an address means one thing: a new one
 * begins when it executes another program, and when an object comes or goes. A
 * pair belongs to the epoch it was counted in. Names are made at the end, since
 * lttng-ust tells the objects while the program runs already: an address that
 * its own epoch does not know is looked up in the next ones, then in those
 * before, then in other processes (a child that has not told its own).
 */
#include <stdlib.h>
#include <string.h>
#include "calls.h"

struct object {
	uint64_t base, size;
	char *path;
};

struct epoch {
	struct object *objects;
	size_t count;
};

static struct process {
	int vpid;
	struct epoch *epochs;
	uint32_t count;
} *processes;
static uint32_t process_count;

static struct pair {
	uint64_t addr, site, count;
	uint32_t process, epoch;
} *pairs;
static uint32_t pair_total, pair_room;
static uint32_t *buckets, bucket_mask; /* id + 1 */

static uint32_t process_find(int vpid)
{
	static uint32_t last;

	if (last < process_count && processes[last].vpid == vpid)
		return last;
	for (last = 0; last < process_count; last++)
		if (processes[last].vpid == vpid)
			return last;
	processes = realloc(processes, (process_count + 1) * sizeof(*processes));
	processes[process_count++] = (struct process) { .vpid = vpid, .epochs = calloc(1, sizeof(struct epoch)), .count = 1 };
	return last;
}

static struct process *process_of(int vpid)
{
	uint32_t at = process_find(vpid); /* may move them all */

	return &processes[at];
}

/* A further epoch that knows what the last one did, or nothing. */
static struct epoch *epoch_begin(struct process *process, int empty)
{
	struct epoch *last, *next;

	process->epochs = realloc(process->epochs, (process->count + 1) * sizeof(struct epoch));
	last = &process->epochs[process->count - 1];
	next = &process->epochs[process->count++];
	*next = (struct epoch) { 0 };
	if (!empty) {
		next->objects = malloc((last->count + 1) * sizeof(struct object));
		memcpy(next->objects, last->objects, last->count * sizeof(struct object));
		next->count = last->count;
	}
	return next;
}

static void object_drop(struct epoch *epoch, uint64_t base, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < epoch->count; i++)
		if (epoch->objects[i].base >= end || epoch->objects[i].base + epoch->objects[i].size <= base)
			epoch->objects[kept++] = epoch->objects[i];
	epoch->count = kept;
}

static const struct object *object_find(const struct epoch *epoch, uint64_t addr)
{
	for (size_t i = 0; i < epoch->count; i++)
		if (addr - epoch->objects[i].base < epoch->objects[i].size)
			return &epoch->objects[i];
	return NULL;
}

void objects_start(int vpid)
{
	struct process *process = process_of(vpid);

	/* A second session makes a process tell everything again, at the same places. */
	if (process->epochs[process->count - 1].count)
		epoch_begin(process, 1);
}

void objects_add(int vpid, uint64_t base, uint64_t size, const char *path, int replaces)
{
	struct process *process = process_of(vpid);
	struct epoch *epoch = &process->epochs[process->count - 1];

	if (replaces && object_find(epoch, base))
		epoch = epoch_begin(process, 0);
	object_drop(epoch, base, base + size);
	epoch->objects = realloc(epoch->objects, (epoch->count + 1) * sizeof(struct object));
	epoch->objects[epoch->count++] = (struct object) { base, size, strdup(path ? path : "?") };
}

void objects_remove(int vpid, uint64_t base)
{
	object_drop(epoch_begin(process_of(vpid), 0), base, base + 1);
}

static uint32_t pair_bucket(uint32_t process, uint32_t epoch, uint64_t addr, uint64_t site)
{
	uint64_t hash = (addr ^ (site << 21 | site >> 43)) * 0x9e3779b97f4a7c15ULL + process * 0x85ebca6bU + epoch;
	uint32_t at = (hash >> 32 ^ hash >> 13) & bucket_mask;

	for (; buckets[at]; at = (at + 1) & bucket_mask) {
		const struct pair *pair = &pairs[buckets[at] - 1];

		if (pair->addr == addr && pair->site == site && pair->process == process && pair->epoch == epoch)
			break;
	}
	return at;
}

static void pairs_grow(void)
{
	pair_room = pair_room ? 2 * pair_room : 1 << 14;
	pairs = realloc(pairs, pair_room * sizeof(*pairs));
	free(buckets);
	buckets = calloc(2 * pair_room, sizeof(*buckets));
	bucket_mask = 2 * pair_room - 1;
	for (uint32_t i = 0; i < pair_total; i++)
		buckets[pair_bucket(pairs[i].process, pairs[i].epoch, pairs[i].addr, pairs[i].site)] = i + 1;
}

uint32_t pair_count(int vpid, uint64_t addr, uint64_t site)
{
	uint32_t process = process_find(vpid), epoch = processes[process].count - 1, at;

	if (pair_total == pair_room)
		pairs_grow();
	at = pair_bucket(process, epoch, addr, site);
	if (!buckets[at]) {
		pairs[pair_total] = (struct pair) { .addr = addr, .site = site, .process = process, .epoch = epoch };
		buckets[at] = ++pair_total;
	}
	pairs[buckets[at] - 1].count++;
	return buckets[at] - 1;
}

uint64_t pair_addr(uint32_t id)
{
	return pairs[id].addr;
}

uint64_t pair_site(uint32_t id)
{
	return pairs[id].site;
}

static const struct object *lookup(uint32_t process, uint32_t epoch, uint64_t addr)
{
	const struct process *own = &processes[process];
	const struct object *object = NULL;

	for (uint32_t e = epoch; !object && e < own->count; e++)
		object = object_find(&own->epochs[e], addr);
	for (uint32_t e = epoch; !object && e--;)
		object = object_find(&own->epochs[e], addr);
	for (uint32_t p = 0; !object && p < process_count; p++)
		for (uint32_t e = 0; !object && e < processes[p].count; e++)
			object = object_find(&processes[p].epochs[e], addr);
	return object;
}

/* A call site is the address behind a call, which may be the next object's first byte. */
static int address_name(const struct pair *pair, uint64_t addr, int behind, char *text, size_t size)
{
	const struct object *object = lookup(pair->process, pair->epoch, addr - behind);

	if (!object)
		return snprintf(text, size, "?+0x%llx", (unsigned long long) addr);
	return snprintf(text, size, "%s+0x%llx", object->path, (unsigned long long) (addr - object->base));
}

int pair_name(uint32_t id, char *text, size_t size)
{
	int n = address_name(&pairs[id], pairs[id].addr, 0, text, size);

	if ((size_t) n + 1 < size) {
		text[n++] = '\t';
		n += address_name(&pairs[id], pairs[id].site, 1, text + n, size - n);
	}
	return n;
}

struct line {
	char *text;
	uint64_t count;
};

static int line_compare(const void *a, const void *b)
{
	return strcmp(((const struct line *) a)->text, ((const struct line *) b)->text);
}

void pairs_print(FILE *out, int with_sites)
{
	struct line *lines = calloc(pair_total + 1, sizeof(*lines));
	char text[8192];

	for (uint32_t i = 0; i < pair_total; i++) {
		pair_name(i, text, sizeof(text));
		if (!with_sites)
			*strchr(text, '\t') = 0;
		lines[i] = (struct line) { strdup(text), pairs[i].count };
	}
	qsort(lines, pair_total, sizeof(*lines), line_compare);
	for (uint32_t i = 0; i < pair_total; i++) {
		if (i + 1 < pair_total && !strcmp(lines[i].text, lines[i + 1].text))
			lines[i + 1].count += lines[i].count;
		else
			fprintf(out, "%llu\t%s\n", (unsigned long long) lines[i].count, lines[i].text);
		free(lines[i].text);
	}
	free(lines);
}
