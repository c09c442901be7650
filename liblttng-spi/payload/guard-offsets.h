/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* struct spi_guard, for assembly; guard.c checks it. */
#ifndef SPI_PAYLOAD_GUARD_OFFSETS_H
#define SPI_PAYLOAD_GUARD_OFFSETS_H

#define SPI_AT_GUARD_SP		0
#define SPI_AT_GUARD_EXCEPTION	8

#define SPI_GUARD_RETURNED	0
#define SPI_GUARD_THROWN	1	/* an exception left the payload */
#define SPI_GUARD_FAULTED	2	/* a fault, or abort() */

#endif /* SPI_PAYLOAD_GUARD_OFFSETS_H */
