/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of module/ share. Control side. */
#ifndef SPI_MODULE_INTERNAL_H
#define SPI_MODULE_INTERNAL_H

#include "liblttng-spi/module/module.h"

/* ---- floor.c ---- */
void spi_floor_tell(void);		/* to the payload, if there are both */

/* ---- load-tell.c: libraries that come and go, told to the trace ---- */
int spi_loads_known(int is_own);	/* what there is need not be told; 1: lttng-ust is among it */
void spi_state_dump(void);		/* the latest scan's, to the run's session */
const char *spi_object_path_real(const struct spi_object *object);	/* until the next is asked for */

/* ---- ust-needs.c ---- */
const char *spi_ust_because(void);	/* why lttng-ust must not be loaded into this process; NULL: it may be */

#endif /* SPI_MODULE_INTERNAL_H */
