/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The static tracepoints that calls.c is measured with: the fields that the dynamic ones have. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./bench-tp.h"

#if !defined(BENCH_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(bench, work_i2_entry,
	LTTNG_UST_TP_ARGS(int, a, int, b),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a)
		lttng_ust_field_integer(int, b, b)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(bench, work_i6_entry,
	LTTNG_UST_TP_ARGS(int, a, int, b, int, c, int, d, int, e, int, f),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a)
		lttng_ust_field_integer(int, b, b)
		lttng_ust_field_integer(int, c, c)
		lttng_ust_field_integer(int, d, d)
		lttng_ust_field_integer(int, e, e)
		lttng_ust_field_integer(int, f, f)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(bench, work_s30_entry,
	LTTNG_UST_TP_ARGS(const char *, s),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(s, s)
	)
)

LTTNG_UST_TRACEPOINT_EVENT_CLASS(bench, work_exit,
	LTTNG_UST_TP_ARGS(int, ret),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, ret, ret)
	)
)
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(bench, work_exit, bench, work_i2_exit, LTTNG_UST_TP_ARGS(int, ret))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(bench, work_exit, bench, work_i6_exit, LTTNG_UST_TP_ARGS(int, ret))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(bench, work_exit, bench, work_s30_exit, LTTNG_UST_TP_ARGS(int, ret))

#endif

#include <lttng/tracepoint-event.h>
