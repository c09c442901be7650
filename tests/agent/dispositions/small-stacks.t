#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 90
#
# Signal handlers on alternate stacks that have just the room which they need themselves are recorded, and run as ever; the program
# is told its own stack when it asks (sigaltstack).
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc small-stacks small-stacks.c

for bytes in 600 5000; do
	for options in '--tree' '--tree --compact' '-f h_on' '--one-event -f h_on'; do
		# shellcheck disable=SC2086
		spi_trace_same "$bytes bytes, $options" "d$tap_count" "./small-stacks $bytes" $options
	done
	is "$(cat plain.out)" "300 7" "$bytes bytes: all of them ran"
done
"$SPI_LTTNG" trace -f h_on -o counted ./small-stacks 600 >/dev/null 2>trace.err </dev/null
is "$(spi_count counted h_on_entry) $(spi_count counted h_on_exit)" "301 301" "and are recorded, the child's too"
tap_done
