/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of the agent's call ledger share. */
#ifndef SPI_LEDGER_INTERNAL_H
#define SPI_LEDGER_INTERNAL_H

#include "liblttng-spi/ledger/ledger.h"

void spi_ledger_close_fork_child(void) SPI_HIDDEN;		/* close.c */

#endif /* SPI_LEDGER_INTERNAL_H */
