/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * lttng-ust types for code map fields (types.c).
 */
#ifndef SPI_TP_TYPES_H
#define SPI_TP_TYPES_H

#include "tp/base/tp.h"

/*
 * The type of a field, and how filters see it. Shared where types are equal.
 * text_max is what the capture program keeps of the field when it is text.
 * NULL: no memory.
 */
SPI_HIDDEN const struct lttng_ust_type_common *tp_type_make(
	const struct spi_map *map, const struct spi_map_field *field, struct tp_column *column);
/* u64, base 10. */
extern SPI_HIDDEN const struct lttng_ust_type_common *const tp_type_u64;

/* `s` as a field name: what is not allowed in one becomes '_'. n characters at most, `to` has room for n + 1. */
SPI_HIDDEN void tp_name_identifier(char *to, const char *s, size_t n);
/* `s` as an event name or label: printable ASCII without " and \. */
SPI_HIDDEN void tp_name_printable(char *to, const char *s, size_t n);

/* `mark` and the number in decimal behind the string that ends at `end`. */
SPI_HIDDEN void tp_name_number(char *end, char mark, unsigned int number);

#endif /* SPI_TP_TYPES_H */
