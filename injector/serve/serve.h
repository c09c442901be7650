/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What agents ask the controller for: code maps (map-jobs.c) and files (file.c). */
#ifndef SPI_INJECTOR_SERVE_H
#define SPI_INJECTOR_SERVE_H

#include "injector/control/internal.h"

/* ---- map-jobs.c ---- */

/* Take an agent's question; 0, or a negative errno: its connection is to end. */
int spi_map_serve(struct spi_agent *agent, uint32_t id, const char *body, size_t size);
void spi_map_jobs_reap(struct spi_control *control);			/* free what is finished, start what waits */
void spi_map_jobs_move(struct spi_agent *agent, struct spi_account *to);
void spi_map_jobs_forget(struct spi_control *control, struct spi_agent *agent);	/* NULL: all, at the end */

/* ---- file.c ---- */

void spi_file_serve(struct spi_agent *agent, uint32_t id, const char *name);
void spi_files_free(struct spi_control *control);

#endif /* SPI_INJECTOR_SERVE_H */
