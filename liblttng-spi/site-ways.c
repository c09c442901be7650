/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The workers for sites whose own instruction has no room (site.c has the first).
 *
 *	block	The first of the instructions that are moved along becomes a jump,
 *		in its own bytes if it has five, else as a pun: its bytes become the
 *		jump's first ones, and what stands behind them the rest, with a
 *		trampoline where that leads. Nothing behind the first instruction
 *		changes, so that a thread which is between them goes on as if nothing
 *		had happened. Where none can be moved the pun is the site's own
 *		instruction, and relies on the bytes behind it.
 *	spring	A short jump to spare bytes nearby, which hold a long one. They are
 *		written first, and stay when the site goes, as a thread may be just
 *		there, until no tree is left and every thread is seen to be elsewhere.
 *	trap	int3 on the first byte, where the object may have that (patch.h).
 *
 * They reach the stub by a jump, which begins with the return address.
 */
#include "liblttng-spi/site.h"

struct spi_pad {
	struct spi_pad *next;
	uint64_t at;
	uint8_t was[SPI_JUMP_SIZE];
};

/* ---- block ---- */

static uint32_t first_size(const struct spi_site *s)
{
	return s->map->before ? s->map->first : s->map->size;
}

static int change_jump(const struct spi_site *s, struct spi_text_op *op)
{
	uint64_t start = spi_site_start(s), to = s->way ? s->way : s->stub;
	int32_t displacement = (int32_t) (to - (start + SPI_JUMP_SIZE));
	uint32_t first = first_size(s);

	op->address = start;
	op->size = (uint8_t) (first < SPI_JUMP_SIZE ? first : SPI_JUMP_SIZE);
	op->how = spi_site_how(start, op->size);
	if (!op->how)
		return -1;
	spi_bytes_copy(op->from, s->map->bytes, 8);
	op->to[0] = 0xe9;
	spi_bytes_copy(op->to + 1, &displacement, 4);
	return 0;
}

/* Does another site change bytes in [from, to), or may it yet? */
static int sites_within(const struct spi_site *s, uint64_t from, uint64_t to)
{
	const struct spi_map_site *all = SPI_MAP_AT(&s->owner->map, sites, struct spi_map_site, 0);
	uint64_t bias = s->owner->object->bias, count = s->owner->map.head->sites.count;

	for (uint64_t i = (uint64_t) (s->map - all) + 1; i < count && i < (uint64_t) (s->map - all) + 4; i++)
		if (all[i].vaddr + bias - all[i].before < to && all[i].vaddr + bias + all[i].size > from)
			return 1;
	return 0;
}

/* A jump whose first bytes are the first instruction's. */
static int make_pun(struct spi_site *s, uint64_t start, uint32_t first)
{
	uint32_t bits = 0, mask = ~UINT32_C(0) << 8 * (first - 1);
	uint32_t known = s->map->before + s->map->size;

	spi_bytes_copy(&bits, s->map->bytes + 1, 4);
	if (known < SPI_JUMP_SIZE) {
		uint64_t end = start + known;

		if (sites_within(s, end, start + SPI_JUMP_SIZE) ||
				spi_bytes_conflict(end, SPI_JUMP_SIZE - known, SPI_JUMP_SIZE - known))
			return spi_site_decline(s, "its instruction is too short, and the bytes behind it are used by another point");
		spi_bytes_copy((uint8_t *) &bits + known - 1, (const void *) end, SPI_JUMP_SIZE - known);
	}
	s->form = SPI_FORM_PUN;
	for (int into_heap_room = 0; into_heap_room < 2 && !s->way; into_heap_room++)
		s->way = spi_trampoline_make(s->owner->object, start + SPI_JUMP_SIZE, mask, bits, s->stub, 0, into_heap_room,
			&s->reason);
	return s->way ? spi_bytes_claim(&s->point, start, first, SPI_JUMP_SIZE, s->map->bytes) : -1;
}

static int worker_block(struct spi_site *s)
{
	uint64_t start = spi_site_start(s);
	uint32_t first = first_size(s);
	struct spi_text_op op;

	if (!first || (!s->map->before && spi_site_is_jcc(s->map)))
		return spi_site_decline(s, "its instruction is too short, and none before it can be moved");
	s->form = SPI_FORM_JUMP;
	if (change_jump(s, &op) < 0)
		return spi_site_decline(s, "its instruction is too short, and the one before it cannot be changed in one step");
	if (spi_site_stub(s, 1) < 0)
		return -1;
	return first >= SPI_JUMP_SIZE ? 0 : make_pun(s, start, first);
}

/* ---- spring ---- */

static int pad_is_free(const struct spi_tree_object *to, uint64_t at)
{
	for (const struct spi_pad *pad = to->pads; pad; pad = pad->next)
		if (at < pad->at + SPI_JUMP_SIZE && pad->at < at + SPI_JUMP_SIZE)
			return 0;
	return !spi_bytes_conflict(at, SPI_JUMP_SIZE, SPI_JUMP_SIZE);
}

/* Five free bytes that the short jump reaches; 0: none. */
static uint64_t pad_find(const struct spi_site *s, uint64_t from)
{
	uint64_t pad = s->map->vaddr + s->owner->object->bias + (uint64_t) (int64_t) s->map->pad;

	for (uint32_t i = 0; i + SPI_JUMP_SIZE <= s->map->pad_size; i++) {
		int64_t distance = (int64_t) (pad + i - from);

		if (distance == (int8_t) distance && pad_is_free(s->owner, pad + i))
			return pad + i;
	}
	return 0;
}

/* Nobody runs these bytes. In two pieces where they cross a word's end. */
static int pad_write(struct spi_tree_object *to, uint64_t at, const uint8_t bytes[SPI_JUMP_SIZE])
{
	uint32_t head = 8 - (at & 7) < SPI_JUMP_SIZE ? 8 - (at & 7) : SPI_JUMP_SIZE;
	struct spi_text_op op[2] = { { .address = at, .size = (uint8_t) head, .how = SPI_TEXT_STORE },
		{ .address = at + head, .size = (uint8_t) (SPI_JUMP_SIZE - head), .how = SPI_TEXT_STORE } };
	unsigned int n = head < SPI_JUMP_SIZE ? 2 : 1;

	for (unsigned int i = 0; i < n; i++) {
		spi_bytes_copy(op[i].from, (const void *) op[i].address, op[i].size);
		spi_bytes_copy(op[i].to, bytes + (op[i].address - at), op[i].size);
	}
	for (uint32_t i = 0; i < to->text_count; i++)
		if (at >= to->text[i].low && at < to->text[i].high) {
			spi_text_write_in(op, n, to->text[i].low, to->text[i].high, to->text[i].prot);
			spi_text_sync();
			return op[0].error || (n == 2 && op[1].error) ? -1 : 0;
		}
	return -1;
}

static void jump_make(uint8_t jump[SPI_JUMP_SIZE], uint64_t at, uint64_t stub)
{
	int32_t displacement = (int32_t) (stub - (at + SPI_JUMP_SIZE));

	jump[0] = 0xe9;
	spi_bytes_copy(jump + 1, &displacement, 4);
}

/* A site's pad may have been given back; control side, or whoever puts the site in place: under the patch lock. */
int spi_site_pad_back(const struct spi_site *s)
{
	uint8_t jump[SPI_JUMP_SIZE];

	if (s->form != SPI_FORM_SHORT)
		return 0;
	jump_make(jump, s->way, s->stub);
	if (spi_bytes_equal((const uint8_t *) s->way, jump, SPI_JUMP_SIZE))
		return 0;
	return pad_write(s->owner, s->way, jump);
}

uint64_t spi_site_pads_next(const struct spi_tree_object *to, uint64_t after)
{
	uint64_t next = 0;

	for (const struct spi_pad *pad = to->pads; pad; pad = pad->next)
		if (pad->at > after && (!next || pad->at < next))
			next = pad->at;
	return next;
}

int spi_site_in_pad(uint64_t address)
{
	struct spi_tree_object *to = spi_tree_object_at(address);

	for (const struct spi_pad *pad = to ? to->pads : NULL; pad; pad = pad->next)
		if (address - pad->at < SPI_JUMP_SIZE)
			return 1;
	return 0;
}

void spi_site_pad_clear(struct spi_tree_object *to, uint64_t at)
{
	for (const struct spi_pad *pad = to->pads; pad; pad = pad->next)
		if (pad->at == at)
			pad_write(to, at, pad->was);
}

static int change_short(const struct spi_site *s, struct spi_text_op *op)
{
	const uint8_t *bytes = s->map->bytes;
	uint64_t start = spi_site_start(s);
	int is_short = !s->map->before && s->map->size == 2 && (bytes[0] == 0xeb || (bytes[0] & 0xf0) == 0x70);

	op->address = is_short ? start + 1 : start;	/* the condition, if it has one, stays */
	op->size = is_short ? 1 : 2;
	op->how = spi_site_how(op->address, op->size);
	if (!op->how || op->how == SPI_TEXT_SPIN || (!is_short && (s->map->before ? s->map->first : s->map->size) < 2))
		return -1;
	spi_bytes_copy(op->from, bytes + is_short, op->size);
	op->to[0] = 0xeb;
	op->to[op->size - 1] = (uint8_t) (s->way - (start + 2));
	return 0;
}

static int worker_spring(struct spi_site *s)
{
	struct spi_tree_object *to = s->owner;
	struct spi_pad *pad;
	struct spi_text_op op;

	s->form = SPI_FORM_SHORT;
	if (!s->map->pad_size || change_short(s, &op) < 0)
		return spi_site_decline(s, "it has no room, and there are no spare bytes within reach of a short jump");
	s->way = pad_find(s, spi_site_start(s) + 2);
	if (!s->way)
		return spi_site_decline(s, "it has no room, and the spare bytes nearby are taken");
	pad = spi_alloc(sizeof(*pad));
	if (!pad || spi_site_stub(s, 1) < 0)
		return -1;
	pad->at = s->way;
	spi_bytes_copy(pad->was, (const void *) s->way, SPI_JUMP_SIZE);
	if (spi_site_pad_back(s) < 0)
		return spi_site_decline(s, "the spare bytes nearby cannot be written");
	pad->next = to->pads;
	to->pads = pad;
	return 0;
}

/* ---- trap ---- */

/*
 * Functions of the C library that call the program back, from wherever that called them: not while libc has all
 * signals blocked, and not in the child of a vfork() or posix_spawn().
 */
static int is_caller_back(const struct spi_site *s)
{
	static const char *const names[] = { "msort_with_tmp", "qsort_r", "_quicksort", "bsearch", "lfind", "lsearch", "tsearch",
		"tfind", "tdelete", "trecurse", "twalk", "tdestroy", "ftw", "nftw", "glob", "scandir", "_obstack", "fopencookie",
		"_run_exit_handlers", "_cxa_finalize" };
	int64_t func = spi_tree_func_around(s->owner, spi_site_start(s));
	const char *name = func < 0 ? "" : spi_tree_func_name(s->owner, (uint64_t) func);

	while (*name == '_' && name[1] == '_')
		name++;
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *a = name, *b = names[i];

		while (*b && *a == *b) {
			a++;
			b++;
		}
		if (!*b)
			return 1;
	}
	return 0;
}

static int worker_trap(struct spi_site *s)
{
	const struct spi_map_site *map = s->map;

	if (s->owner->no_trap)
		return spi_site_decline(s, s->owner->no_trap);
	if (s->owner->is_runtime && !is_caller_back(s))
		return spi_site_decline(s, "needs int3, which is not safe in a library that runs with signals blocked");
	if (spi_site_is_jcc(map))
		return spi_site_decline(s, "a conditional jump without room");
	s->form = SPI_FORM_INT3;
	if (spi_site_stub(s, 1) < 0)
		return -1;
	return spi_trap_add(spi_site_start(s), s->stub) < 0 ? spi_site_decline(s, "no memory for the table of int3 sites") : 0;
}

static int change_trap(const struct spi_site *s, struct spi_text_op *op)
{
	op->address = spi_site_start(s);
	op->size = 1;
	op->how = SPI_TEXT_STORE;
	op->from[0] = s->map->bytes[0];
	op->to[0] = 0xcc;
	return 0;
}

/* ---- */

int spi_site_wants_trap(const struct spi_map_site *map)
{
	uint64_t start = map->vaddr - map->before;	/* pages are mapped as they are in the file: lines are, too */
	uint32_t first = map->before ? map->first : map->size;

	if (!(spi_site_workers >> SPI_SITE_WORKER_CALL & 1))
		return 1;
	if (spi_site_is_jcc(map) || (!map->before && map->size >= SPI_JUMP_SIZE))
		return 0;
	return (!map->window && !map->pad_size) || (start & 63) + (first < SPI_JUMP_SIZE ? first : SPI_JUMP_SIZE) > 64;
}

int spi_site_way_change(const struct spi_site *s, struct spi_text_op *op)
{
	switch (s->form) {
	case SPI_FORM_JUMP:
	case SPI_FORM_PUN:
		return change_jump(s, op);
	case SPI_FORM_SHORT:
		return change_short(s, op);
	case SPI_FORM_INT3:
		return change_trap(s, op);
	default:
		return -1;
	}
}

void spi_site_way_choose(struct spi_site *s)
{
	static int (*const work[SPI_SITE_WORKERS])(struct spi_site *) = {
		[SPI_SITE_WORKER_BLOCK] = worker_block, [SPI_SITE_WORKER_SPRING] = worker_spring,
		[SPI_SITE_WORKER_TRAP] = worker_trap,
	};

	for (uint32_t w = SPI_SITE_WORKER_BLOCK; w < SPI_SITE_WORKERS; w++) {
		if (!(spi_site_workers >> w & 1))
			continue;
		s->way = 0;
		if (work[w](s) == 0) {
			s->worker = (uint8_t) w;
			s->reason = NULL;
			return;
		}
	}
}
