/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What is left for sites that no jump of 5 bytes fits (jump.c).
 *
 *	spring	A short jump to spare bytes nearby, which hold a long one. They are
 *		written first, and stay when the site goes, as a thread may be just
 *		there, until no tree is left and every thread is seen to be elsewhere.
 *	trap	int3 on the first byte, where the object may have that (patch/patch.h).
 *
 * They reach the stub by a jump, which begins with the return address.
 */
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/tree/sites/internal.h"

struct spi_pad {
	struct spi_pad *next;
	uint64_t at;
	uint8_t was[SPI_JUMP_SIZE];
};

/* ---- spring ---- */

int spi_site_pads_overlap(const struct spi_tree_object *to, uint64_t at, uint32_t size)
{
	for (const struct spi_pad *pad = to->pads; pad; pad = pad->next)
		if (at < pad->at + SPI_JUMP_SIZE && pad->at < at + size)
			return 1;
	return 0;
}

static int pad_is_free(const struct spi_tree_object *to, uint64_t at)
{
	return !spi_site_pads_overlap(to, at, SPI_JUMP_SIZE) && !spi_bytes_conflict(at, SPI_JUMP_SIZE, SPI_JUMP_SIZE);
}

/* Five free bytes that the short jump reaches; 0: none. */
static uint64_t pad_find(const struct spi_site *s, uint64_t from)
{
	uint64_t pad = s->map->vaddr + s->owner->object->bias + (uint64_t) (int64_t) s->map->pad;

	for (uint32_t i = 0; i + SPI_JUMP_SIZE <= s->map->pad_size; i++) {
		if (spi_jump_short_reaches(from, pad + i) && pad_is_free(s->owner, pad + i))
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
	if (spi_site_text_write(to, op, n) < 0)
		return -1;
	spi_text_sync();
	return op[0].error || (n == 2 && op[1].error) ? -1 : 0;
}

/* A site's pad may have been given back; control side, or whoever puts the site in place: under the patch lock. */
int spi_site_pad_back(const struct spi_site *s)
{
	uint8_t jump[SPI_JUMP_SIZE];

	if (s->form != SPI_FORM_SHORT)
		return 0;
	spi_jump_bytes(s->way, s->stub, jump);
	if (spi_bytes_equal((const uint8_t *) s->way, jump, SPI_JUMP_SIZE))
		return 0;
	return pad_write(s->owner, s->way, jump);
}

int spi_site_in_pad(uint64_t address)
{
	struct spi_tree_object *to = spi_tree_object_at(address);

	for (const struct spi_pad *pad = to ? to->pads : NULL; pad; pad = pad->next)
		if (address - pad->at < SPI_JUMP_SIZE)
			return 1;
	return 0;
}

void spi_site_pads_clear(struct spi_tree_object *to)
{
	uint64_t before = spi_patch_lock();

	for (const struct spi_pad *pad = to->gone ? NULL : to->pads; pad; pad = pad->next)
		pad_write(to, pad->at, pad->was);
	spi_patch_unlock(before);
}

static int change_short(const struct spi_site *s, struct spi_text_op *op)
{
	uint64_t start = spi_site_start(s);
	uint8_t jump[SPI_JUMP_SHORT_SIZE];
	int is_short = !s->before && spi_site_is_short_jump(s->map);

	op->address = start + (uint64_t) is_short;
	op->size = (uint8_t) (SPI_JUMP_SHORT_SIZE - (uint32_t) is_short);
	op->how = spi_site_how(op->address, op->size);
	if (!op->how || op->how == SPI_TEXT_SPIN)
		return -1;
	spi_bytes_copy(op->from, spi_site_bytes(s->map, s->before) + is_short, op->size);
	spi_jump_short_bytes(start, s->way, jump);
	spi_bytes_copy(op->to, jump + is_short, op->size);
	return 0;
}

/* Where the short jump may begin: at the site, or at an instruction before it that has two bytes. 0: it reaches no spare bytes. */
static int spring_find(struct spi_site *s, uint32_t *moved)
{
	const struct spi_map_site *map = s->map;
	struct spi_text_op op;

	if (!map->pad_size || map->solid)
		return 0;
	for (*moved = 0; *moved <= map->insn_count; ++*moved) {
		s->before = (uint8_t) spi_site_before(map, *moved);
		if (spi_site_first(map, *moved) < 2 || (!*moved && spi_site_is_jcc(map) && !spi_site_is_short_jump(map)) ||
				!spi_site_is_untouched(s, s->before))
			continue;
		s->way = pad_find(s, spi_site_start(s));
		if (s->way && change_short(s, &op) == 0)
			return 1;
	}
	return 0;
}

static int worker_spring(struct spi_site *s)
{
	struct spi_tree_object *to = s->owner;
	struct spi_pad *pad;
	uint32_t moved;

	s->form = SPI_FORM_SHORT;
	if (!spring_find(s, &moved))
		return spi_site_decline(s, "it is too short for a jump, and no spare bytes are within reach of a short jump");
	pad = spi_alloc(sizeof(*pad));
	if (!pad)
		return spi_site_decline(s, "the agent has no memory left");
	if (spi_site_stub(s, moved, 1) < 0)
		return -1;
	pad->at = s->way;
	spi_bytes_copy(pad->was, (const void *) s->way, SPI_JUMP_SIZE);
	if (spi_site_pad_back(s) < 0)
		return spi_site_decline(s, "the spare bytes nearby cannot be written");
	pad->next = to->pads;
	to->pads = pad;
	return spi_bytes_claim(&s->point, spi_site_start(s), 2, 2, spi_site_bytes(s->map, s->before));
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

const char *spi_site_trap_unfit(const struct spi_site *s)
{
	if (s->owner->no_trap)
		return s->owner->no_trap;
	if (s->owner->is_runtime && !is_caller_back(s))
		return "only a breakpoint (int3) fits, and its library runs with signals blocked";
	return NULL;
}

static int worker_trap(struct spi_site *s)
{
	const char *unfit = spi_site_trap_unfit(s);

	if (unfit)
		return spi_site_decline(s, unfit);
	if (spi_site_is_jcc(s->map))
		return spi_site_decline(s, "it is a conditional jump that is too short for another jump");
	s->form = SPI_FORM_INT3;
	if (spi_site_stub(s, 0, 1) < 0)
		return -1;
	if (spi_trap_add(spi_site_start(s), s->stub) < 0)
		return spi_site_decline(s, "only a breakpoint (int3) fits, and there is no memory to note it");
	return spi_bytes_claim(&s->point, spi_site_start(s), 1, 1, spi_site_bytes(s->map, 0));
}

static int change_trap(const struct spi_site *s, struct spi_text_op *op)
{
	op->address = spi_site_start(s);
	op->size = 1;
	op->how = SPI_TEXT_STORE;
	op->from[0] = spi_site_bytes(s->map, 0)[0];
	op->to[0] = SPI_CODE_TRAP;
	return 0;
}

/* ---- */

int spi_site_wants_trap(const struct spi_map_site *map)
{
	if (!(spi_site_workers >> SPI_SITE_WORKER_CALL & 1))
		return 1;
	return map->solid || (map->size < SPI_JUMP_SIZE && !spi_site_is_jcc(map));
}

int spi_site_way_change(const struct spi_site *s, struct spi_text_op *op)
{
	switch (s->form) {
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
		[SPI_SITE_WORKER_BLOCK] = spi_site_jump_block, [SPI_SITE_WORKER_SPRING] = worker_spring,
		[SPI_SITE_WORKER_WINDOW] = spi_site_jump_window, [SPI_SITE_WORKER_TRAP] = worker_trap,
	};

	for (uint32_t w = SPI_SITE_WORKER_BLOCK; w < SPI_SITE_WORKERS; w++) {
		if (!(spi_site_workers >> w & 1))
			continue;
		s->way = s->before = 0;
		if (work[w](s) == 0) {
			s->worker = (uint8_t) w;
			s->reason = NULL;
			return;
		}
	}
}
