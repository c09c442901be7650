/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of payload/ share. */
#ifndef SPI_PAYLOAD_ROOM_INTERNAL_H
#define SPI_PAYLOAD_ROOM_INTERNAL_H

#include "liblttng-spi/payload/payload.h"

/* ---- call.c ---- */
void spi_errno_find(void) SPI_HIDDEN;	/* before the first call of a client */

/* ---- output.c ---- */
void spi_client_output_find(struct spi_link *link) SPI_HIDDEN;	/* control side; link NULL: there is no controller */

/* ---- file.c ---- */
/* Loads the payload file. Its client, or NULL and `why`. */
struct spi_client *spi_client_load(const char *name, const char *arguments, char *why, size_t size) SPI_HIDDEN;

#endif /* SPI_PAYLOAD_ROOM_INTERNAL_H */
