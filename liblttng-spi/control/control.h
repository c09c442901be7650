/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room control: starts the rooms, serves a controller where there is one. What room api/ needs of it.
 *
 * Threads: a thread that may allocate memory and load libraries.
 */
#ifndef SPI_CONTROL_H
#define SPI_CONTROL_H

/* Before the first rule of a process that has no controller: what is found out about threads. Not under the control lock. */
void spi_control_alone_begins(void);

#endif /* SPI_CONTROL_H */
