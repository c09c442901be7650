/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER spi_ipc
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "flow-tp.h"

#if !defined(FLOW_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FLOW_TP_H
#include <stdint.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT_CLASS(spi_ipc, operation,
	LTTNG_UST_TP_ARGS(uint64_t, channel, uint64_t, position, uint64_t, length, int64_t, result, uint64_t, took, int32_t, fd,
		uint64_t, flags),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uint64_t, channel, channel)
		lttng_ust_field_integer(uint64_t, position, position) lttng_ust_field_integer(uint64_t, length, length)
		lttng_ust_field_integer(int64_t, result, result) lttng_ust_field_integer(uint64_t, took, took)
		lttng_ust_field_integer(int32_t, fd, fd) lttng_ust_field_integer_hex(uint64_t, flags, flags)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(spi_ipc, operation, spi_ipc, send,
	LTTNG_UST_TP_ARGS(uint64_t, channel, uint64_t, position, uint64_t, length, int64_t, result, uint64_t, took, int32_t, fd,
		uint64_t, flags))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(spi_ipc, operation, spi_ipc, recv,
	LTTNG_UST_TP_ARGS(uint64_t, channel, uint64_t, position, uint64_t, length, int64_t, result, uint64_t, took, int32_t, fd,
		uint64_t, flags))
LTTNG_UST_TRACEPOINT_EVENT(spi_ipc, channel,
	LTTNG_UST_TP_ARGS(uint64_t, channel, int32_t, fd, const char *, kind, const char *, direction, const char *, from,
		const char *, to, uint64_t, inode),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uint64_t, channel, channel) lttng_ust_field_integer(int32_t, fd, fd)
		lttng_ust_field_string(kind, kind) lttng_ust_field_string(direction, direction) lttng_ust_field_string(from, from)
		lttng_ust_field_string(to, to) lttng_ust_field_integer(uint64_t, inode, inode)))
#endif
#include <lttng/tracepoint-event.h>
