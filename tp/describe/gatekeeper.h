/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The one check that every descriptor passes before lttng-ust sees it.
 */
#ifndef SPI_TP_GATEKEEPER_H
#define SPI_TP_GATEKEEPER_H

#include <lttng/ust-events.h>
#include "liblttng-spi/calls/point.h"

/* NULL when the event may be registered, else a static text that says why not. Also remembers its name as used. */
SPI_HIDDEN const char *tp_gate_event(const char *provider, const struct lttng_ust_event_desc *event);
/* Has an event of that name been let through already? 1, 0. */
SPI_HIDDEN int tp_gate_name_used(const char *provider, const char *event);
/*
 * Are these two field names one to a reader? The session daemon puts a '_' before each name. Readers take one off again;
 * but babeltrace2 2.0 compares a new name that has it with earlier ones that do not: `_n` and `n` are two fields of one
 * name to it, and it reads nothing of such a trace. Trace Compass looks fields up with and without.
 */
SPI_HIDDEN int tp_names_clash(const char *a, const char *b);

#endif /* SPI_TP_GATEKEEPER_H */
