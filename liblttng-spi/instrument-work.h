/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What instrument.c and instrument-find.c share: one rule that is being carried out. */
#ifndef SPI_INSTRUMENT_WORK_H
#define SPI_INSTRUMENT_WORK_H

#include "liblttng-spi/instrument.h"

#define IFUNC_MAX	64u

struct work {
	struct spi_link *link;
	struct rule *rule;
	struct spi_rule_result *result;
	char ifuncs[IFUNC_MAX * 20];	/* patterns 0x... of indirect functions' implementations */
	const char *ifunc_names[IFUNC_MAX];
	uint64_t ifunc_at[IFUNC_MAX];
	unsigned int ifunc_count;
	uint32_t parts;
	uint32_t created;		/* points; each refers to its map */
	struct spi_object *only;	/* which has just been loaded, and is not relocated yet; NULL: all that is loaded */
};

/* Not instrumented, with the reason, which the controller is told. */
void spi_work_decline(struct work *w, const struct spi_object *object, const char *function, const char *reason);
/* Points for all functions that it names in what is loaded, in rule->points. 0, or -ECONNRESET, or another negative errno. */
int spi_work_find(struct work *w);
/* ---- instrument.c ---- */
/* The event module, and what else has to be there before anything is instrumented. 0, or a negative errno and why in result->text. */
int spi_work_ready(struct work *w);
/* Events and jumps for rule->points; those that fall out are told, and in it no more. 0 or a negative errno. */
int spi_work_put_in_force(struct work *w);

#endif /* SPI_INSTRUMENT_WORK_H */
