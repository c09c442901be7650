/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What link.c and control.c share: packets, one after the other. */
#ifndef SPI_LINK_INTERNAL_H
#define SPI_LINK_INTERNAL_H

#include "liblttng-spi/core.h"

/* A packet that was put aside. */
struct spi_pending {
	struct spi_pending *next;
	uint32_t bytes;			/* of the mapping */
	uint32_t size;			/* of the packet */
	uint8_t packet[];
};

/* One packet into link->packet. Its size, 0 at the end of the link, -ETIMEDOUT or another errno; *fd: with it, or -1. */
long spi_link_receive(struct spi_link *link, int timeout_ms, int *fd);
/* The two halves of spi_link_open(). */
int spi_link_hello(struct spi_link *link, int fd, uint32_t hello_flags);
int spi_link_welcome(struct spi_link *link);
void spi_link_close(struct spi_link *link);

#endif /* SPI_LINK_INTERNAL_H */
