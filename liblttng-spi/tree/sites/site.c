/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Call sites: from the call instruction of the program to the site's stub, and
 * back. What stays on the stack is what would be there without us: the stub is
 * entered with the original return address, like a stub at a function's entry.
 *
 * Three workers, tried in this order:
 *
 *	call	the instruction alone has room: a direct call, jump or conditional
 *		jump of which only the displacement changes, or another of 5 bytes and
 *		more, which becomes a direct one with prefixes in front, so that it ends
 *		where the old one did
 *	block	a jump in place of one of the instructions before it, which are moved along (jump.c)
 *	trap	int3 (trap.c)
 *
 * The latter two come to the stub by a jump, which then pushes the return address
 * itself. Each changes one instruction only, so that no thread can be inside what changes.
 */
#include <string.h>
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/tree/sites/internal.h"

uint32_t spi_site_workers = ~0u;

/* One name, or several with '+' between them. */
void spi_site_workers_read(void)
{
	static const char *const names[SPI_SITE_WORKERS] = SPI_SITE_WORKER_NAMES;
	const char *at = spi_env.test_worker;
	uint32_t found = 0;

	while (at && *at) {
		size_t n = strcspn(at, "+");

		for (uint32_t i = 1; i < SPI_SITE_WORKERS; i++)
			if (strlen(names[i]) == n && !memcmp(at, names[i], n))
				found |= 1u << i;
		at += n + (at[n] != 0);
	}
	if (found)
		spi_site_workers = found;
}

void spi_site_workers_only(enum spi_site_worker worker)
{
	spi_site_workers = 1u << worker;
}

/* ---- what the worker `call` writes ---- */

static int is_jump(const struct spi_map_site *site)
{
	return site->kind == SPI_SITE_JUMP || site->kind == SPI_SITE_JUMP_SLOT || site->kind == SPI_SITE_JUMP_INDIRECT;
}

int spi_site_is_jcc(const struct spi_map_site *site)
{
	return site->kind == SPI_SITE_JCC || site->kind == SPI_SITE_JCC_SLOT;
}

static int is_call(const struct spi_map_site *site)
{
	return !is_jump(site) && !spi_site_is_jcc(site);
}

static int fits_word(uint64_t address, uint32_t size)
{
	return (address & 7) + size <= 8;
}

/* How bytes of one instruction can be changed; 0: in no way. */
uint8_t spi_site_how(uint64_t address, uint32_t size)
{
	if (fits_word(address, size))
		return SPI_TEXT_STORE;
	if (size > 8)
		return 0;
	if ((address & 15) + size <= 16)
		return SPI_TEXT_WIDE;
	if ((address & 7) <= 6 && spi_text_can_sync())
		return SPI_TEXT_SPIN;
	return (address & 63) + size <= 64 ? SPI_TEXT_LINE : 0;
}

/* The change of a site's text as an operation: from the program's bytes to ours. 0, or -1: it cannot be made. */
static int change_displacement(const struct spi_site *s, struct spi_text_op *op)
{
	const struct spi_map_site *map = s->map;
	uint64_t end = spi_site_end(s);

	op->address = end - SPI_DISPLACEMENT_SIZE;
	op->size = SPI_DISPLACEMENT_SIZE;
	op->how = spi_site_how(op->address, op->size);
	if (op->how == SPI_TEXT_SPIN || !op->how) {	/* that wants the instruction's first bytes */
		op->address = end - map->size;
		op->size = map->size;
		op->how = spi_site_how(op->address, op->size);
	}
	if (!op->how)
		return -1;
	spi_bytes_copy(op->from, spi_site_bytes(map, 0) + map->size - op->size, op->size);
	spi_bytes_copy(op->to, op->from, op->size);
	spi_displacement_bytes(end, s->stub, op->to + op->size - SPI_DISPLACEMENT_SIZE);
	return 0;
}

static int change_whole(const struct spi_site *s, struct spi_text_op *op)
{
	const struct spi_map_site *map = s->map;

	op->address = spi_site_end(s) - map->size;
	op->size = map->size;
	if (map->size < SPI_JUMP_SIZE || map->size > 8 || spi_site_is_jcc(map))
		return -1;
	op->how = spi_site_how(op->address, op->size);
	if (!op->how)
		return -1;
	spi_bytes_copy(op->from, spi_site_bytes(map, 0), op->size);
	spi_site_whole_bytes(map, spi_site_end(s), s->stub, op->to);
	return 0;
}

/* A call or jump through memory: it goes through a word of ours that holds the stub's address. */
static int change_word(const struct spi_site *s, struct spi_text_op *op)
{
	uint64_t after = spi_site_end(s);

	op->address = after - SPI_SITE_WORD_SIZE;
	op->size = SPI_SITE_WORD_SIZE;
	if (!spi_site_has_word(s->map) || !fits_word(op->address, op->size))
		return -1;
	op->how = SPI_TEXT_STORE;
	spi_bytes_copy(op->from, spi_site_bytes(s->map, 0) + s->map->size - SPI_SITE_WORD_SIZE, SPI_SITE_WORD_SIZE);
	spi_site_word_bytes(s->map, after, s->way, op->to);
	return 0;
}

int spi_site_change(const struct spi_site *s, struct spi_text_op *op)
{
	op->bounds = 0;
	op->index = 0;
	op->error = NULL;
	switch (s->form) {
	case SPI_FORM_DISPLACEMENT:
		return change_displacement(s, op);
	case SPI_FORM_WHOLE:
		return change_whole(s, op);
	case SPI_FORM_WORD:
		return change_word(s, op);
	case SPI_FORM_JUMP:
		return spi_site_jump_change(s, op);
	case SPI_FORM_INT3:
		return spi_site_trap_change(s, op);
	default:
		return -1;
	}
}

int spi_site_text_write(const struct spi_tree_object *to, struct spi_text_op *op, uint32_t n)
{
	const struct spi_tree_text *text = spi_tree_text_at(to, op[0].address);

	if (!text)
		return -1;
	if (to->object->is_made) {	/* its rights change as the program likes: those of now count */
		spi_text_write(op, n);
		return 0;
	}
	spi_text_write_in(op, n, text->low, text->high, text->prot);
	return 0;
}

/* ---- the stub ---- */

int spi_site_decline(struct spi_site *s, const char *reason)
{
	s->reason = reason;
	return -1;
}

int spi_site_stub_room(struct spi_site *s, struct spi_emit *e)
{
	*e = (struct spi_emit) { 0 };
	if (spi_near_code(s->owner->object, e, SPI_SITE_STUB_MAX) < 0)
		return spi_site_decline(s, "no free memory within reach of its object");
	return 0;
}

void spi_site_stub_drop(struct spi_site *s, struct spi_emit *e)
{
	spi_near_code_trim(s->owner->object, e->rx);
}

int spi_site_stub_write(struct spi_site *s, struct spi_emit *e, uint32_t moved, int by_jump)
{
	const struct spi_map_site *map = s->map;
	struct spi_object *object = s->owner->object;
	enum spi_site_way way = SPI_SITE_TO;
	struct spi_stub stub;
	uint64_t push = by_jump && is_call(map) ? spi_site_end(s) : 0;

	if (spi_site_is_slot(map))
		way = SPI_SITE_TO_SLOT;
	else if (!map->target)
		way = SPI_SITE_TO_CALLEE;
	stub = spi_point_stub(&s->point);
	spi_site_emit(e, &stub, map, moved, push, way, map->target + object->bias);
	s->point.body = stub.body;
	spi_near_code_trim(object, e->failed ? e->rx : e->rx + e->used);
	if (e->failed)
		return spi_site_decline(s, e->failed);
	s->stub = e->rx;
	s->stub_size = (uint16_t) e->used;
	s->pushes = push != 0;
	return 0;
}

int spi_site_stub(struct spi_site *s, uint32_t moved, int by_jump)
{
	struct spi_emit e;

	return spi_site_stub_room(s, &e) < 0 ? -1 : spi_site_stub_write(s, &e, moved, by_jump);
}

int spi_site_is_untouched(const struct spi_site *s, uint32_t before)
{
	uint64_t start = spi_site_address(s) - before;
	uint32_t n = before + s->map->size;
	uint8_t now[SPI_SITE_BYTES];

	if (s->owner->object->is_made && spi_memory_copy(now, start, n) < 0)
		return 0;
	return !spi_bytes_conflict(start, n, n) &&
		spi_bytes_equal((const uint8_t *) start, spi_site_bytes(s->map, before), n);
}

static int worker_call(struct spi_site *s)
{
	struct spi_text_op op;

	if (s->map->solid)
		return spi_site_decline(s, "a jump goes into its middle");
	if (spi_site_has_displacement(s->map))
		s->form = SPI_FORM_DISPLACEMENT;
	else if (s->map->size < SPI_JUMP_SIZE)
		return spi_site_decline(s, "its instruction is too short");
	else
		s->form = SPI_FORM_WHOLE;
	if (spi_site_change(s, &op) < 0) {
		s->form = SPI_FORM_WORD;
		if (spi_site_change(s, &op) < 0)
			return spi_site_decline(s, "its instruction cannot be changed in one step");
		s->way = (uint64_t) spi_near_data(s->owner->object, 8, 8);
		if (!s->way)
			return spi_site_decline(s, "no free memory within reach of its object");
	}
	if ((!s->stub || s->pushes) && spi_site_stub(s, 0, 0) < 0)
		return -1;
	if (s->form == SPI_FORM_WORD)
		*(uint64_t *) s->way = s->stub;
	return 0;
}

void spi_site_choose(struct spi_site *s)
{
	static int (*const work[SPI_SITE_WORKERS])(struct spi_site *) = {
		[SPI_SITE_WORKER_CALL] = worker_call, [SPI_SITE_WORKER_BLOCK] = spi_site_block,
		[SPI_SITE_WORKER_TRAP] = spi_site_trap,
	};

	s->before = 0;
	s->custom = NULL;
	s->worker = SPI_SITE_NONE;
	if (s->stub && spi_bytes_conflict(spi_site_address(s), s->map->size, s->map->size)) {
		s->form = SPI_FORM_ENTRY;
		s->worker = SPI_SITE_WORKER_CALL;
		return;
	}
	if (!spi_site_is_untouched(s, 0)) {
		s->reason = spi_bytes_conflict(spi_site_address(s), s->map->size, s->map->size) ?
			"another instrumented place uses its bytes" : "its code in memory differs from its file";
		return;
	}
	if (spi_unlikely(spi_site_customs) && spi_site_custom(s) == 0) {
		s->worker = SPI_SITE_WORKER_CUSTOM;
		s->reason = NULL;
		return;
	}
	for (uint32_t w = SPI_SITE_WORKER_CALL; w < SPI_SITE_WORKER_CUSTOM; w++) {
		s->way = s->before = 0;
		if (!(spi_site_workers >> w & 1)) {
			s->reason = s->reason ? s->reason : "every way to reach it is switched off";
		} else if (work[w](s) == 0) {
			s->worker = (uint8_t) w;
			s->reason = NULL;
			return;
		}
	}
}
