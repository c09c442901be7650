/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * int3 on the first byte of a site that no jump fits, where its object may have that (patch/patch.h).
 */
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/tree/sites/internal.h"

/*
 * Functions of the C library that call the program back, from wherever that called them: not while libc has all
 * signals blocked, and not in the child of a vfork() or posix_spawn().
 */
static int is_caller_back(const struct spi_site *s)
{
	static const char *const names[] = { "msort_with_tmp", "qsort_r", "_quicksort", "bsearch", "lfind", "lsearch",
		"tsearch", "tfind", "tdelete", "trecurse", "twalk", "tdestroy", "ftw", "nftw", "glob", "scandir", "_obstack",
		"fopencookie", "_run_exit_handlers", "_cxa_finalize", NULL };
	int64_t func = spi_tree_func_around(s->owner, spi_site_start(s));
	const char *name = func < 0 ? "" : spi_tree_func_name(s->owner, (uint64_t) func);

	while (*name == '_' && name[1] == '_')
		name++;
	return spi_text_is_of(name, names, 0);
}

static const char *trap_unfit(const struct spi_site *s)
{
	if (s->owner->no_trap)
		return s->owner->no_trap;
	if (s->owner->is_runtime && !is_caller_back(s))
		return "only a breakpoint (int3) fits, and its library runs with signals blocked";
	return NULL;
}

int spi_site_trap(struct spi_site *s)
{
	const char *unfit = trap_unfit(s);

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

int spi_site_trap_change(const struct spi_site *s, struct spi_text_op *op)
{
	op->address = spi_site_start(s);
	op->size = 1;
	op->how = SPI_TEXT_STORE;
	op->from[0] = spi_site_bytes(s->map, 0)[0];
	op->to[0] = SPI_CODE_TRAP;
	return 0;
}

int spi_site_wants_trap(const struct spi_map_site *map)
{
	if (!(spi_site_workers >> SPI_SITE_WORKER_CALL & 1))
		return 1;
	return map->solid || (map->size < SPI_JUMP_SIZE && !spi_site_is_jcc(map));
}
