/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the assembly that calls payloads (arch/<cpu>/payload/) knows of this room's structures; call.c asserts it. */
#ifndef SPI_PAYLOAD_OFFSETS_H
#define SPI_PAYLOAD_OFFSETS_H

#define SPI_PAYLOAD_STACK		16384	/* bytes that a payload has; printf() alone takes half of it */

/* struct spi_client */
#define SPI_AT_CLIENT_STATE		64	/* and limit_us, as one word */
#define SPI_AT_CLIENT_ENTRY		72
#define SPI_AT_CLIENT_EXIT		80
#define SPI_AT_CLIENT_ENTRY_DATA	88
#define SPI_AT_CLIENT_EXIT_DATA		96
#define SPI_AT_CLIENT_FLAGS		104
#define SPI_CLIENT_GENERAL		2	/* SPI_PAYLOAD_GENERAL_REGISTERS */

/* struct spi_clients */
#define SPI_AT_CLIENTS_ONE		240
#define SPI_AT_CLIENTS_OF		248
#define SPI_AT_CLIENTS_OUTSIDE		256
#define SPI_AT_CLIENTS_CRITICAL		264

/* struct spi_call */
#define SPI_CALL_SIZE			56
#define SPI_AT_CALL_CLIENT		0
#define SPI_AT_CALL_POINT		8
#define SPI_AT_CALL_FRAME		16
#define SPI_AT_CALL_SLOT		40
#define SPI_AT_CALL_TREES		48	/* and ending, as one word */

/* struct spi_guard */
#define SPI_AT_GUARD_KIND		0
#define SPI_AT_GUARD_CLIENT		8

#define SPI_GUARD_ANY		0	/* spi_guarded_call() */
#define SPI_GUARD_ENTRY		1	/* of spi_client_call_fast() */
#define SPI_GUARD_EXIT		2	/* of spi_client_returns_fast() */

#define SPI_GUARD_RETURNED	0
#define SPI_GUARD_THROWN	1	/* an exception left the payload */
#define SPI_GUARD_FAULTED	2	/* a fault, or abort() */

#endif /* SPI_PAYLOAD_OFFSETS_H */
