/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* lttng-ust's events of libraries that come and go (library.c). */
#ifndef SPI_TP_LIBRARY_H
#define SPI_TP_LIBRARY_H

#include "liblttng-spi/patch.h"
#include "tp/tp.h"

SPI_HIDDEN void tp_library_init(void);
SPI_HIDDEN void tp_libraries_update(void);
SPI_HIDDEN void tp_library_event(const struct spi_object *object, const char *path, uint64_t from, int is_load);

#endif /* SPI_TP_LIBRARY_H */
