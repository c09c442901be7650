/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Values that are not known: what an event says of them in its field not_known (not-known.c). */
#ifndef SPI_TP_NOT_KNOWN_H
#define SPI_TP_NOT_KNOWN_H

#include "tp/base/tp.h"

/* "never = <optimised out>; s = <unknown>": stands for fields that are not recorded. */
struct tp_not_known {
	char text[400];
	size_t length;
};

/* Add those of n fields whose value is not known. */
SPI_HIDDEN void tp_not_known_add(
	struct tp_not_known *to, const struct spi_map *map, const struct spi_map_field *fields, unsigned int n);

/* The text, NULL when all values are known. */
SPI_INLINE const char *tp_not_known_text(const struct tp_not_known *from)
{
	return from->length ? from->text : NULL;
}

#endif /* SPI_TP_NOT_KNOWN_H */
