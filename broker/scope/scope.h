/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Processes that a rule names and that never register: programs not linked with lttng-ust. For the broker's one thread.
 */
#ifndef SPI_BROKER_SCOPE_SCOPE_H
#define SPI_BROKER_SCOPE_SCOPE_H

void scope_update(void);	/* the rules are others */
void scope_close(void);
/* A hook of processes: one that a rule names was not held at its start, and may have forked meanwhile. */
void scope_look_soon(void);

#endif /* SPI_BROKER_SCOPE_SCOPE_H */
