#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# A breakpoint's signal does not use the alternate stack of a program that has no handler for it: that memory may be gone, or be
# something else by now. Nor does the signal that a tree begins on.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc spent-stack spent-stack.c

for bytes in 2048 8192 65536 1048576; do
	for how in gone half read-only data; do
		spi_trace_same "$bytes bytes, $how" "d$tap_count" "./spent-stack $how $bytes" -f t_tiny
		[ "$bytes" != 65536 ] || is "$(spi_count "d$((tap_count - 2))" t_tiny_entry)" 23 "$bytes bytes, $how: each call is recorded"
	done
done
for options in '--tree' '--tree --compact'; do
	# shellcheck disable=SC2086
	spi_trace_same "$options" "d$tap_count" "./spent-stack gone 65536" $options
done
tap_done
