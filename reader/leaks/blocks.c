/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Blocks of memory: a table of addresses for each process. What was given back stays there, so that who gives it back
 * again is found.
 *
 * A realloc() is recorded at its end: another thread may have got the address by then, and recorded that. So a block
 * that is got while it is live is another block, and the first realloc() of it by another thread means the old one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reader/leaks/leaks.h"

#define INCIDENTS_MOST	1000u		/* of a process; more are counted */

static struct leak_block *block_place(struct leak_block *blocks, uint64_t room, uint64_t address)
{
	uint64_t at = spi_hash_number(address);

	while (blocks[at & (room - 1)].address && blocks[at & (room - 1)].address != address)
		at++;
	return &blocks[at & (room - 1)];
}

static struct leak_block *block_get(struct leak_process *p, uint64_t address, int makes)
{
	struct leak_block *b = p->block_room ? block_place(p->blocks, p->block_room, address) : NULL;

	if ((b && b->address) || !makes)
		return b && b->address ? b : NULL;
	if (p->block_count * 2 >= p->block_room) {
		const uint64_t room = p->block_room ? p->block_room * 2 : 4096;
		struct leak_block *more = calloc(room, sizeof(*more));

		if (!more)
			return NULL;
		for (uint64_t i = 0; i < p->block_room; i++)
			if (p->blocks[i].address)
				*block_place(more, room, p->blocks[i].address) = p->blocks[i];
		free(p->blocks);
		p->blocks = more;
		p->block_room = room;
		b = block_place(more, room, address);
	}
	p->block_count++;
	b->address = address;
	return b;
}

static int block_got(struct leak_process *p, uint64_t address, uint64_t size, const struct leak_said *said)
{
	struct leak_group *g;
	struct leak_block *b;

	if (!address) {
		p->failed++;
		return 0;
	}
	g = leak_group_get(p, said->stack, said->thread);
	b = g ? block_get(p, address, 1) : NULL;
	if (!b)
		return -ENOMEM;
	if (b->is_live) {
		p->unseen++;
		b->is_taken_over = 1;
		if (leak_group_gives(p, b->group, b->size, -1) < 0)
			return -ENOMEM;
	} else {
		b->is_taken_over = 0;
	}
	b->size = size;
	b->group = g;
	b->ns = said->ns;
	b->is_live = 1;
	leak_group_gets(p, g, size, said->ns);
	return 0;
}

static int incident_add(struct leak_process *p, enum leak_wrong what, uint64_t address, const struct leak_said *said,
	const struct leak_stack *got)
{
	p->wrong[what]++;
	if (p->incident_count == INCIDENTS_MOST)
		return 0;
	if (p->incident_count == p->incident_room) {
		const uint32_t room = p->incident_room ? p->incident_room * 2 : 16;
		struct leak_incident *more = realloc(p->incidents, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->incidents = more;
		p->incident_room = room;
	}
	p->incidents[p->incident_count++] = (struct leak_incident) { what, address, said->ns, said->stack, got };
	return 0;
}

/* May it have been there before all that is recorded? A large block of malloc()'s stands alone, behind 16 bytes. */
static int is_older(const struct leak_process *p, uint64_t address)
{
	return p->begun != BEGUN_FROM_START || (address >= p->heap_low && address < p->heap_mark) ||
		(address & 4095) == 16;
}

/* libc gives back what it got by other ways, and memory of threads that the dynamic linker, or the tracer, got. */
static int is_libc(const struct leak_stack *at)
{
	const char *object = at->count ? leak_frame_object(at->frames[0]) : "";

	return !strncmp(object, "libc.so", 7) || !strncmp(object, "ld-linux", 8);
}

static int block_given(struct leak_process *p, uint64_t address, const struct leak_said *said)
{
	struct leak_block *b = block_get(p, address, 0);
	int r;

	if (!b && is_older(p, address)) {
		p->older++;
		return 0;
	}
	if (!b && is_libc(said->stack)) {
		p->internal++;
		return 0;
	}
	if (!b)
		return incident_add(p, WRONG_FOREIGN, address, said, NULL);
	if (!b->is_live)
		return incident_add(p, WRONG_DOUBLE, address, said, b->group->stack);
	r = leak_group_gives(p, b->group, b->size, said->ns - b->ns);
	b->is_live = 0;
	b->ns = said->ns;
	p->freed++;
	return r;
}

/* in: the old address, out: the new one. */
static int block_moved(struct leak_process *p, uint64_t in, uint64_t out, uint64_t size, const struct leak_said *said)
{
	struct leak_block *b = in ? block_get(p, in, 0) : NULL;
	int r = 0;

	if (!out && size) {		/* the old block stays */
		p->failed++;
		return 0;
	}
	if (b && b->is_taken_over && in != out) {
		b->is_taken_over = 0;
		p->unseen--;
		p->freed++;
	} else if (in) {
		r = block_given(p, in, said);
	}
	return r || !out ? r : block_got(p, out, size, said);
}

int leak_memory_take(struct leak_process *p, const struct leak_said *said)
{
	const uint64_t *v = said->values;

	switch (said->what) {
	case LEAK_MALLOC:
		return block_got(p, v[1], v[0], said);
	case LEAK_CALLOC:
		return block_got(p, v[2], v[0] * v[1], said);
	case LEAK_MEMALIGN:
		return block_got(p, v[2], v[1], said);
	case LEAK_POSIX_MEMALIGN:
		return block_got(p, v[3] ? 0 : v[0], v[2], said);
	case LEAK_REALLOC:
		return block_moved(p, v[0], v[2], v[1], said);
	default:
		return v[0] ? block_given(p, v[0], said) : 0;
	}
}
