/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The events of own-events.c, as lttng-ust(3) has such headers. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER own

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./own-events.h"

#if !defined(OWN_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define OWN_EVENTS_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(own, call,
	LTTNG_UST_TP_ARGS(const char *, callee, const char *, caller, uint64_t, first),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(callee, callee)
		lttng_ust_field_string(caller, caller)
		lttng_ust_field_integer_hex(uint64_t, first, first)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(own, result,
	LTTNG_UST_TP_ARGS(const char *, callee, uint64_t, value, unsigned int, ending),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(callee, callee)
		lttng_ust_field_integer_hex(uint64_t, value, value)
		lttng_ust_field_integer(unsigned int, ending, ending)
	)
)

#endif

#include <lttng/tracepoint-event.h>
