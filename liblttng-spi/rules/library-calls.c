/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls from one object into another. The point stands at the function's entry, where calls from its own object come,
 * too; where the call returns to says which it is. Any thread, any state, as an entry payload runs.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/rules/internal.h"

/*
 * The call returns into a slot where something else is recorded of it, which knows the return address, or where a
 * function that is recorded ends with a tail call of this one, or where a call tree has made the call.
 */
static int comes_from(const struct spi_object *object, const struct spi_point *point, const struct spi_frame *frame)
{
	uint64_t ra = frame->ra;

	for (const struct spi_slot *slot; spi_unlikely((slot = spi_slot_of_word(ra)) != NULL); ra = slot->ra)
		if (slot->point->address != point->address)
			return slot->point->object == object;
	return ra - object->low < object->high - object->low;
}

static uint64_t library_entry(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	return comes_from(point->object, point, frame) ? 0 : point->record(point, frame, vec, stride);
}

void spi_library_calls_only(struct spi_point *point)
{
	point->entry = library_entry;
}
