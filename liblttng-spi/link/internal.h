/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of link/ share: packets, one after the other. Control side. */
#ifndef SPI_LINK_INTERNAL_H
#define SPI_LINK_INTERNAL_H

#include "liblttng-spi/link/link.h"

struct spi_link;

/* ---- transport.c ---- */
/* As spi_link_send(), with flags for sendmsg(). */
int spi_link_send_with(struct spi_link *link, uint16_t type, uint32_t id, const void *a, size_t na, const void *b, size_t nb, int fd,
	long flags);
void spi_link_put_aside(struct spi_link *link, long size);

/* ---- renewal.c ---- */
void spi_link_renewed_close(struct spi_link *link);

/* ---- nursery.c ---- */
void spi_nursery_close(void);

#endif /* SPI_LINK_INTERNAL_H */
