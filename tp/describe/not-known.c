/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Values that are not known. A field has one type in all records of an event, so
 * a value that no record can have gets no field: a number would be taken for the
 * value. One text in the event, made with the descriptor, names all such values
 * and says why; it costs a call nothing but its bytes.
 */
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "tp/describe/describe.h"

#define NAME_MAX_	200u

/* A part that does not fit becomes "...", as the end of a string does; nothing is added behind it. */
static void part_add(struct tp_not_known *to, const char *part)
{
	size_t n = strlen(part), left = sizeof(to->text) - to->length;

	if (left < 5)
		return;
	if (n > left - 5) {
		part = "...";
		n = 3;
	}
	memcpy(to->text + to->length, part, n + 1);
	to->length = part[0] == '.' ? sizeof(to->text) : to->length + n;
}

void tp_not_known_add(
	struct tp_not_known *to, const struct spi_map *map, const struct spi_map_field *fields, unsigned int n)
{
	char name[NAME_MAX_ + 1];

	for (unsigned int i = 0; i < n; i++) {
		if (spi_place_is_known(fields[i].place))
			continue;
		tp_name_identifier(name, spi_map_string(map, fields[i].name), NAME_MAX_);
		part_add(to, to->length ? "; " : "");
		part_add(to, name);
		part_add(to, " = ");
		part_add(to, fields[i].place == SPI_PLACE_OPTIMISED_OUT ? SPI_MARK_OPTIMISED_OUT : SPI_MARK_UNKNOWN);
	}
}
