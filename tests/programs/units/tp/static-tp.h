/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Static tracepoints with the fields of the run-time ones that micro.c compares.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "static-tp.h"
#if !defined(STATIC_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define STATIC_TP_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(bench, two, LTTNG_UST_TP_ARGS(int, a, int, b),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, a, a) lttng_ust_field_integer(int, b, b)))
LTTNG_UST_TRACEPOINT_EVENT(
	bench, ret, LTTNG_UST_TP_ARGS(long, ret), LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(long, ret, ret)))
LTTNG_UST_TRACEPOINT_EVENT(bench, six, LTTNG_UST_TP_ARGS(int, a, int, b, int, c, int, d, int, e, int, f),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, a, a) lttng_ust_field_integer(int, b, b)
			lttng_ust_field_integer(int, c, c) lttng_ust_field_integer(int, d, d)
				lttng_ust_field_integer(int, e, e) lttng_ust_field_integer(int, f, f)))
LTTNG_UST_TRACEPOINT_EVENT(
	bench, str, LTTNG_UST_TP_ARGS(const char *, s), LTTNG_UST_TP_FIELDS(lttng_ust_field_string(s, s)))
#endif
#include <lttng/tracepoint-event.h>
