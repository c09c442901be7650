/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The files of prototypes of the controller's user, for an spi-codemap that runs with another user's rights: their bytes,
 * which nobody here looks into, as one sealed descriptor (codemap/prototypes/collect.h).
 */
#ifndef SPI_INJECTOR_SERVE_PROTOTYPES_H
#define SPI_INJECTOR_SERVE_PROTOTYPES_H

#include <stddef.h>
#include <stdint.h>

struct spi_control;

struct spi_prototypes {
	char *bytes;		/* from malloc(); NULL: there are none */
	size_t size, room;
	uint64_t hash;		/* of the bytes; 0: none */
};

/* Read the files as they are now: those that the caller named (spi_control_prototypes()), or those of the user's directory. */
void spi_prototypes_take(const struct spi_control *control, struct spi_prototypes *prototypes);
/* A descriptor to be given away; -1: there are none, or no memory for it. */
int spi_prototypes_bundle(const struct spi_prototypes *prototypes);
void spi_prototypes_drop(struct spi_prototypes *prototypes);

/* At the controller's end. */
void spi_prototypes_free(struct spi_control *control);

#endif /* SPI_INJECTOR_SERVE_PROTOTYPES_H */
