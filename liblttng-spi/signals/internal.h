/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of signals/ share. Any thread. */
#ifndef SPI_SIGNALS_INTERNAL_H
#define SPI_SIGNALS_INTERNAL_H

#include "liblttng-spi/signals/signals.h"

struct spi_signal;

/* ---- share.c ---- */
/* Does the kernel still lead this signal to the agent's handler? */
int spi_signal_is_ours(const struct spi_signal *s);

#endif /* SPI_SIGNALS_INTERNAL_H */
