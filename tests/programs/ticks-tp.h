/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER app
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "ticks-tp.h"

#if !defined(APP_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define APP_TP_H
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(app, tick, LTTNG_UST_TP_ARGS(int, number, const char *, text),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, number, number)
						       lttng_ust_field_string(text, text)))
#endif
#include <lttng/tracepoint-event.h>
