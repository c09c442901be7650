/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The plugin's thread (thread.c), and what the broker says to it (messages.c). */
#ifndef SPI_SESSIOND_THREAD_H
#define SPI_SESSIOND_THREAD_H

#include "spi-sessiond-plugin/broker/broker.h"

/* Start the plugin thread and arm the hooks; at most once. */
void plugin_start(void);

/* ---- messages.c ---- */

extern const struct broker_events thread_broker_events;

#endif /* SPI_SESSIOND_THREAD_H */
