/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* descriptor.c: the fields of one event as they are put together. Agent thread only. */
#ifndef SPI_TP_DRAFT_H
#define SPI_TP_DRAFT_H

#include "tp/describe/describe.h"

#define TP_FIELDS_LOOKED_AT	256u	/* parameters beyond are left out */

struct draft {
	const struct spi_map *map;
	const struct lttng_ust_event_field **fields;
	struct tp_column *columns;
	unsigned int n;
	const char *names[TP_FIELDS_MAX];	/* taken */
	unsigned int names_count;
};

/* What the code map has for a point's function. */
struct tp_fields {
	const struct spi_map_field *entry, *result;
	unsigned int entry_count, result_count;
	uint8_t entry_keep[TP_FIELDS_LOOKED_AT], result_keep[TP_FIELDS_LOOKED_AT];
};
SPI_HIDDEN void tp_fields_of(struct tp_fields *f, const struct spi_point *point);

/* 0 or -ENOMEM, as all that return int. */
SPI_HIDDEN int tp_draft_begin(struct draft *d, const struct spi_map *map);
/* A field name for `raw`, unique in the event; parameters without a name are arg<number>. NULL: no memory. */
SPI_HIDDEN const char *tp_draft_name(struct draft *d, const char *raw, unsigned int number);
SPI_HIDDEN int tp_draft_add(struct draft *d, const char *name, const struct lttng_ust_type_common *type,
	struct tp_column column);
/* The kept ones of n map fields; names[] as tp_draft_name() gave them, or NULL to find them now. */
SPI_HIDDEN int tp_draft_add_all(struct draft *d, const struct spi_map_field *fields, unsigned int n,
	const uint8_t *keep, const char **names);
/* The event's field for values that are not known; the record has its text from the capture program. */
SPI_HIDDEN int tp_draft_add_not_known(struct draft *d, const struct tp_not_known *what);
/* The event's description; place: of tp_place_of(). NULL: no memory. */
SPI_HIDDEN struct lttng_ust_event_desc *tp_draft_event(const struct draft *d, const char *name,
	const struct lttng_ust_probe_desc *provider, const char *const *place);

#endif /* SPI_TP_DRAFT_H */
