/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A jump of 5 bytes to the stub of a site whose own instruction is shorter. It may
 * begin at any of the instructions before the site that the map lets move, or at the
 * site itself; all from there on then run in the stub. The jump overwrites one
 * instruction, so that no thread can be inside of what changes. What it has of the
 * bytes behind stays as they are: its displacement is given in part, and it leads to
 * a trampoline where that allows one.
 *
 * Where the displacement leads depends on where the jump begins, and on prefixes, which
 * mean nothing to a jump and move its displacement. So all beginnings are tried, with up
 * to two prefixes: first what needs the least.
 */
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/tree/sites/internal.h"

#define PREFIXES_MAX	2u

struct jump {
	uint64_t start;
	uint32_t moved, before;		/* instructions, bytes */
	uint32_t prefixes, length;	/* bytes, of all the jump */
	uint32_t changed;		/* bytes that are written */
	uint32_t mask, bits;		/* of the displacement: what is given */
};

/* Do others' instructions stand in [from, to)? What else they change, the byte index knows. */
static int sites_within(const struct spi_site *s, uint64_t from, uint64_t to)
{
	const struct spi_map_site *all = SPI_MAP_AT(&s->owner->map, sites, struct spi_map_site, 0);
	uint64_t bias = s->owner->object->bias, count = s->owner->map.head->sites.count;

	for (uint64_t i = (uint64_t) (s->map - all) + 1; i < count && all[i].vaddr + bias < to; i++)
		if (all[i].vaddr + bias + all[i].size > from)
			return 1;
	return 0;
}

/* A byte of the jump that stays as it is. */
static uint8_t byte_kept(const struct spi_site *s, const struct jump *j, uint32_t at)
{
	uint32_t known = j->before + s->map->size;

	return at < known ? spi_site_bytes(s->map, j->before)[at] : *(const volatile uint8_t *) (j->start + at);
}

/* The jump that moves that many instructions, and overwrites the first of them, or the site's. 0: none. */
static int jump_shape(const struct spi_site *s, uint32_t moved, uint32_t prefixes, struct jump *j)
{
	const struct spi_map_site *map = s->map;
	uint32_t room = spi_site_first(map, moved) + (moved ? 0 : map->after);

	if (prefixes >= spi_site_first(map, moved))
		return 0;
	*j = (struct jump) { .moved = moved, .before = spi_site_before(map, moved), .prefixes = prefixes,
		.length = prefixes + SPI_JUMP_SIZE };
	j->start = spi_site_address(s) - j->before;
	if (!spi_tree_text_at(s->owner, j->start + j->length - 1))	/* the site may be the last of its segment */
		return 0;
	j->changed = room < j->length ? room : j->length;
	for (uint32_t at = prefixes + 1 > j->changed ? prefixes + 1 : j->changed; at < j->length; at++) {
		j->mask |= UINT32_C(0xff) << 8 * (at - prefixes - 1);
		j->bits |= (uint32_t) byte_kept(s, j, at) << 8 * (at - prefixes - 1);
	}
	return j->mask || !prefixes;
}

int spi_site_jump_change(const struct spi_site *s, struct spi_text_op *op)
{
	uint8_t *jump = op->to;

	op->address = spi_site_start(s);
	op->size = s->changed;
	op->how = spi_site_how(op->address, op->size);
	if (!op->how)
		return -1;
	spi_bytes_copy(op->from, s->was, 8);
	for (uint32_t i = 0; i < s->prefixes; i++)
		*jump++ = SPI_CODE_PREFIX;
	spi_jump_bytes(op->address + s->prefixes, s->way ? s->way : s->stub, jump);
	return 0;
}

/* Where the jump can lead, with the stub at `stub`: 1, and *way if it is to a trampoline. 0: it cannot be made. */
static int jump_way(struct spi_site *s, const struct jump *j, uint64_t stub, int into_heap_room, uint64_t *way)
{
	uint64_t end = spi_site_end(s), jump_end = j->start + j->length;

	*way = 0;
	if (!spi_site_how(j->start, j->changed)) {
		s->reason = "the instructions before it cannot be changed in one step";
		return 0;
	}
	if (spi_bytes_conflict(j->start, j->changed, j->length) || (jump_end > end && sites_within(s, end, jump_end))) {
		s->reason = "its instruction is too short, and another instrumented place uses the bytes around it";
		return 0;
	}
	if (!j->mask)
		return 1;
	*way = spi_trampoline_make(s->owner->object, jump_end, j->mask, j->bits, stub, into_heap_room, &s->reason);
	return *way != 0;
}

/* It is to be this one. */
static int jump_take(struct spi_site *s, const struct jump *j, struct spi_emit *e)
{
	if (spi_site_stub_write(s, e, j->moved, 1) < 0)
		return -1;
	s->before = (uint8_t) j->before;
	s->prefixes = (uint8_t) j->prefixes;
	s->changed = (uint8_t) j->changed;
	s->form = SPI_FORM_JUMP;
	spi_bytes_copy(s->was, (const void *) j->start, j->length);
	if (spi_bytes_claim(&s->point, j->start, j->changed, j->length, s->was) < 0)
		return spi_site_decline(s, "the agent has no memory left");
	return 0;
}

/* The jumps that there are, in the order of what they need: each with one number, 0 when there are no more. */
static int jump_nth(const struct spi_site *s, uint32_t n, struct jump *j)
{
	const struct spi_map_site *map = s->map;
	uint32_t count = map->insn_count;

	/* first without prefixes, and first those that reach into nothing behind */
	for (uint32_t round = 0; round < 2 * (PREFIXES_MAX + 1); round++) {
		uint32_t prefixes = round / 2, is_short = round % 2;

		for (uint32_t moved = 0; moved <= count; moved++)
			if ((spi_site_before(map, moved) + map->size + map->after < prefixes + SPI_JUMP_SIZE) == is_short &&
					jump_shape(s, moved, prefixes, j) && !n--)
				return 1;
	}
	return 0;
}

int spi_site_block(struct spi_site *s)
{
	struct spi_emit e;
	struct jump j;
	uint64_t way;

	if (s->map->solid || spi_site_is_jcc(s->map))
		return spi_site_decline(s, "its instruction is too short, and none before it can be moved");
	if (spi_site_stub_room(s, &e) < 0)
		return -1;
	/* straight to the stub; by a trampoline; by one in a heap's room */
	for (int pass = 0; pass < 3; pass++)
		for (uint32_t n = 0; jump_nth(s, n, &j); n++) {
			if ((pass == 0) != (j.mask == 0) || !spi_site_is_untouched(s, j.before) ||
					!jump_way(s, &j, e.rx, pass == 2, &way))
				continue;
			s->way = way;
			return jump_take(s, &j, &e);
		}
	spi_site_stub_drop(s, &e);
	return -1;
}
