/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A jump of 5 bytes to the stub of a site whose own instruction is shorter. It may
 * begin at any of the instructions before the site that the map lets move, or at the
 * site itself; all from there on then run in the stub. Bytes of the jump are
 *
 *	its own		where an instruction is overwritten from its first byte on
 *	int3		where another one began that is overwritten, too: a thread which
 *			was between the two goes on at its copy, by the trap table
 *	what they are	in instructions behind, which stay, and after the site
 *
 * and so its displacement is given in part, and it leads to a trampoline where that
 * allows one. With one instruction overwritten (`block`) no thread can be inside of
 * what changes. With several (`window`) it can: so that is for where int3 may be.
 *
 * Where the displacement leads depends on where the jump begins: 5b 5d 41 5c ff e0
 * (pop, pop, pop, jmp) in a program at 0x400000 cannot have int3 as its fifth byte,
 * which would lead below 0, but from its second instruction on it can. And on
 * prefixes, which mean nothing to a jump and move its displacement: 48 8b 7d 18 ff d0
 * becomes 2e e9 xx xx cc xx. So all beginnings are tried, with up to two of them:
 * first what needs the least.
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
	uint8_t bounds;
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

/* The jump that moves that many instructions and overwrites the first `over` of them, or of them and the site's. 0: none. */
static int jump_shape(const struct spi_site *s, uint32_t moved, uint32_t over, uint32_t prefixes, struct jump *j)
{
	const struct spi_map_site *map = s->map;
	uint32_t end = 0, after = over > moved ? map->after : 0;

	if (prefixes >= spi_site_first(map, moved))
		return 0;
	*j = (struct jump) { .moved = moved, .before = spi_site_before(map, moved), .prefixes = prefixes,
		.length = prefixes + SPI_JUMP_SIZE };
	j->start = spi_site_address(s) - j->before;
	if (!spi_tree_text_at(s->owner, j->start + j->length - 1))	/* the site may be the last of its segment */
		return 0;
	for (uint32_t i = 0; i < over; i++) {
		if (end >= j->length)
			return 0;
		if (end)
			j->bounds |= (uint8_t) (1u << end);
		end += spi_site_first(map, moved - i);
	}
	j->changed = end + after < j->length ? end + after : j->length;
	for (uint32_t at = prefixes + 1; at < j->length; at++) {
		uint8_t byte = SPI_CODE_TRAP;

		if (at >= j->changed)
			byte = byte_kept(s, j, at);
		else if (!(j->bounds >> at & 1))
			continue;
		j->mask |= UINT32_C(0xff) << 8 * (at - prefixes - 1);
		j->bits |= (uint32_t) byte << 8 * (at - prefixes - 1);
	}
	return j->mask || !prefixes;
}

/* How it is written; 0: in no way. */
static uint8_t jump_how(uint64_t start, uint32_t changed, uint8_t bounds)
{
	uint8_t how = spi_site_how(start, changed);

	if (!bounds || how == SPI_TEXT_STORE || how == SPI_TEXT_WIDE)
		return how;
	return spi_text_can_sync() ? SPI_TEXT_CC : 0;
}

int spi_site_jump_change(const struct spi_site *s, struct spi_text_op *op)
{
	uint64_t to = s->way ? s->way : s->stub;
	uint8_t *jump = op->to;

	op->address = spi_site_start(s);
	op->size = s->changed;
	op->bounds = s->bounds;
	op->how = jump_how(op->address, op->size, op->bounds);
	if (!op->how)
		return -1;
	spi_bytes_copy(op->from, s->was, 8);
	for (uint32_t i = 0; i < s->prefixes; i++)
		*jump++ = SPI_CODE_PREFIX;
	spi_jump_bytes(op->address + s->prefixes, to, jump);
	return 0;
}

/* Where the jump can lead, with the stub at `stub`: 1, and *way if it is to a trampoline. 0: it cannot be made. */
static int jump_way(struct spi_site *s, const struct jump *j, uint64_t stub, int into_heap_room, uint64_t *way)
{
	uint64_t end = spi_site_end(s), jump_end = j->start + j->length;

	*way = 0;
	if (!jump_how(j->start, j->changed, j->bounds)) {
		s->reason = "the instructions before it cannot be changed in one step";
		return 0;
	}
	if (spi_bytes_conflict(j->start, j->changed, j->length) || (jump_end > end &&
			(sites_within(s, end, jump_end) || spi_site_pads_overlap(s->owner, j->start, j->length)))) {
		s->reason = "its instruction is too short, and another instrumented place uses the bytes around it";
		return 0;
	}
	if (!j->mask)
		return 1;
	*way = spi_trampoline_make(s->owner->object, jump_end, j->mask, j->bits, stub, into_heap_room, &s->reason);
	return *way != 0;
}

/* Where threads go on that meet an int3 of the jump's, now or later. */
static int jump_traps(const struct spi_site *s, const struct jump *j, const uint64_t *entries)
{
	uint32_t at = 0;

	if (!j->bounds)
		return 0;
	if (spi_trap_add(j->start, s->stub) < 0)
		return -1;
	for (uint32_t left = j->moved; left; left--) {
		at += spi_site_first(s->map, left);
		if (at < j->length && (j->bounds >> at & 1) && spi_trap_add(j->start + at, entries[left - 1]) < 0)
			return -1;
	}
	return 0;
}

/* It is to be this one. */
static int jump_take(struct spi_site *s, const struct jump *j, struct spi_emit *e)
{
	uint64_t entries[SPI_SITE_INSNS];

	if (spi_site_stub_write(s, e, j->moved, 1, entries) < 0)
		return -1;
	s->before = (uint8_t) j->before;
	s->prefixes = (uint8_t) j->prefixes;
	s->changed = (uint8_t) j->changed;
	s->bounds = j->bounds;
	s->form = j->bounds ? SPI_FORM_WINDOW : j->mask ? SPI_FORM_PUN : SPI_FORM_JUMP;
	spi_bytes_copy(s->was, (const void *) j->start, j->length);
	if (jump_traps(s, j, entries) < 0 || spi_bytes_claim(&s->point, j->start, j->changed, j->length, s->was) < 0)
		return spi_site_decline(s, "the agent has no memory left");
	return 0;
}

/* The jumps that there are, in the order of what they need: each with one number, 0 when there are no more. */
static int jump_nth(const struct spi_site *s, uint32_t n, int several, struct jump *j)
{
	const struct spi_map_site *map = s->map;
	uint32_t count = map->insn_count;

	/* first without prefixes, and first those that reach into nothing behind */
	for (uint32_t round = 0; round < 2 * (PREFIXES_MAX + 1); round++) {
		uint32_t prefixes = round / 2, is_short = round % 2;

		for (uint32_t moved = 0; moved <= count; moved++) {
			if ((spi_site_before(map, moved) + map->size + map->after < prefixes + SPI_JUMP_SIZE) != is_short)
				continue;
			for (uint32_t over = several ? 2 : 1; over <= (several ? moved + 1 : 1); over++)
				if (jump_shape(s, moved, over, prefixes, j) && !n--)
					return 1;
		}
	}
	return 0;
}

static int jump_choose(struct spi_site *s, int several)
{
	struct spi_emit e;
	struct jump j;
	uint64_t way;

	if (s->map->solid || spi_site_is_jcc(s->map))
		return spi_site_decline(s, "its instruction is too short, and none before it can be moved");
	if (spi_site_stub_room(s, &e) < 0)
		return -1;
	/* straight to the stub; by a trampoline; by one in a heap's room */
	for (int pass = several; pass < 3; pass++)
		for (uint32_t n = 0; jump_nth(s, n, several, &j); n++) {
			if ((pass == 0) != (j.mask == 0) || !spi_site_is_untouched(s, j.before) ||
					!jump_way(s, &j, e.rx, pass == 2, &way))
				continue;
			s->way = way;
			return jump_take(s, &j, &e);
		}
	spi_site_stub_drop(s, &e);
	return -1;
}

int spi_site_jump_block(struct spi_site *s)
{
	return jump_choose(s, 0);
}

int spi_site_jump_window(struct spi_site *s)
{
	const char *unfit = spi_site_trap_unfit(s);

	return unfit ? spi_site_decline(s, unfit) : jump_choose(s, 1);
}
