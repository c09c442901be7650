/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files about agents share: agents.c, agents-analyses.c, agents-lost.c. */
#ifndef SPI_CLI_RUN_AGENTS_INTERNAL_H
#define SPI_CLI_RUN_AGENTS_INTERNAL_H

#include "cli/run/agents.h"

struct spi_agent;

/* agents-analyses.c: a callback of struct spi_control_ops. */
void agents_on_analysis(struct spi_agent *agent, const char *object, int begins, void *data);

/* ---- agents-lost.c ---- */

/* The connection is over, and the process may run on: unless a new agent of that process is there, remember the program. */
void agents_lost_add(struct agents *a, const struct spi_agent *agent);
/* An agent has come of that process: it is not lost. */
void agents_lost_forget(struct agents *a, pid_t pid);
void agents_lost_report(struct agents *a);

#endif /* SPI_CLI_RUN_AGENTS_INTERNAL_H */
