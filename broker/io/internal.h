/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What only io/ uses. */
#ifndef SPI_BROKER_IO_INTERNAL_H
#define SPI_BROKER_IO_INTERNAL_H

#include "broker/io/io.h"

int rundir_open(void);		/* sockets beside the daemon's. 0 or a negative errno, and a note that says what */
int status_open(int listener);	/* takes the descriptor over. 0 or a negative errno */
void version_ask(void);		/* the daemon's version is known soon */

#endif /* SPI_BROKER_IO_INTERNAL_H */
