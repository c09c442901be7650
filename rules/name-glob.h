/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Patterns of LTTng event names as tokens; internal to rules/. */
#ifndef SPI_RULES_NAME_GLOB_H
#define SPI_RULES_NAME_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/event-name.h"

#define SPI_TOKEN_STAR 256u

struct spi_name_glob {
	unsigned int n;
	uint16_t token[SPI_EVENT_NAME_MAX + 1];	/* a byte, or SPI_TOKEN_STAR; no two stars in a row */
};

/* The part of an event name behind "spi:". 0 or -ENAMETOOLONG. */
int spi_name_glob_read(struct spi_name_glob *glob, const char *pattern);

/*
 * The texts t such that t + suffix matches: each is matched by one of the glob's
 * own prefixes whose length is marked in ends[0 .. glob->n].
 */
void spi_name_glob_quotient(const struct spi_name_glob *glob, const char *suffix, bool *ends);

/* The first n tokens as a glob of the agent's (doc/rules.md). */
void spi_name_glob_write(const struct spi_name_glob *glob, unsigned int n, char *text, size_t size);

#endif /* SPI_RULES_NAME_GLOB_H */
