/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A jump in the dynamic linker's function for debuggers.
 *
 * The dynamic linker calls an empty function when it has changed its list of objects: _dl_debug_state(),
 * whose address it tells debuggers (_r_debug.r_brk). The patcher knows functions by code maps, and there is
 * none of the dynamic linker. So the jump takes the place of the one instruction, which returns, and of spare
 * bytes behind it, in one store; the replacement returns in its place.
 */
#include <link.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/hooks/internal.h"

static struct {
	struct spi_text_op op;
	int made;		/* -1: cannot be */
	int installed;
} jump;

/* A way from near the linker to the replacement. 0: there is none. */
static uint64_t way_make(struct spi_object *linker, const void *to)
{
	struct spi_emit e = { .frame = 1 };
	uint64_t before = spi_patch_lock(), made = 0;

	if (spi_near_code(linker, &e, 32) == 0) {
		spi_emit_jump(&e, (uint64_t) to);
		spi_emit_finish(&e);
		spi_near_code_trim(linker, e.failed ? e.rx : e.rx + e.used);
		made = e.failed ? 0 : e.rx;
	}
	spi_patch_unlock(before);
	return made;
}

static void make(const struct spi_hook *hook)
{
	uint64_t address = _r_debug.r_brk, way;
	struct spi_object *linker = spi_objects_list();

	jump.made = -1;
	while (linker && (!linker->seen || address < linker->low || address >= linker->high))
		linker = linker->next;
	if (!address || !linker || !spi_code_is_empty_function((const uint8_t *) address)) {
		spi_hook_note_lost(hook, "ld.so", "the dynamic linker is of an unknown kind");
		return;
	}
	way = way_make(linker, hook->with);
	if (!way)
		return;
	jump.op.address = address;
	jump.op.size = SPI_JUMP_SIZE;
	jump.op.how = SPI_TEXT_STORE;
	spi_bytes_copy(jump.op.from, (const void *) address, SPI_JUMP_SIZE);
	spi_jump_bytes(address, way, jump.op.to);
	jump.made = 1;
}

void spi_hook_linker_write(const struct spi_hook *hook, int install)
{
	struct spi_text_op op;
	uint64_t before;

	if (install && !jump.made)
		make(hook);
	if (jump.made <= 0 || jump.installed == install)
		return;
	op = jump.op;
	if (!install) {
		spi_bytes_copy(op.from, jump.op.to, sizeof(op.from));
		spi_bytes_copy(op.to, jump.op.from, sizeof(op.to));
	}
	before = spi_patch_lock();
	spi_text_write(&op, 1);
	spi_patch_unlock(before);
	if (!op.error)
		jump.installed = install;
}
