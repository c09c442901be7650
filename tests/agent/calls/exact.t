#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
# soak-timeout: 1800
#
# N calls are N entries and N exits, in every thread, for 1 to 8 threads, with
# nothing lost. 10 000 000 calls in all in `make soak`.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c

calls=20000
buffers=()
if [ -n "${SPI_SOAK:-}" ]; then
	calls=10000000
	# Enough for everything at once: two processors leave the consumer little time.
	buffers=(--subbuf-size 16M --num-subbuf 64)
fi
for threads in 1 2 4 8; do
	each=$((calls / threads))
	spi_trace_ok "$threads threads, $each calls each" -f t_leaf "${buffers[@]}" -o "t$threads" ./zoo threads "$each" "$threads"
	is "$(head -n 1 trace.out)" "wrong values 0" "$threads threads: every value right"
	babeltrace2 "t$threads" 2>warn | events threads - t_leaf >"threads"
	is "$(cut -d' ' -f2- threads | sort | uniq -c | awk '{ print $1, $2, $3 }')" "$threads $each $each" \
		"$threads threads: $each entries and exits in each"
	is "$(events lost warn)" 0 "$threads threads: nothing lost"
	rm -rf "t$threads"
done
tap_done
