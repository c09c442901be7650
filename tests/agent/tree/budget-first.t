#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
# timeout: 120
#
# --budget where tracing is far behind as functions are met for the first time: these are recorded all the same, and the one
# that takes most is left out.
. "${SPI_TOP_SRCDIR:?}/tests/lib/budget.sh"
spi_private "$@"
spi_daemon
tree_tools
{
	calls=
	for i in {0..5999}; do
		echo "static volatile int v$i; __attribute__((noinline, noclone)) static void once$i(void) { v$i++; }"
		calls+=" once$i();"
	done
	echo "void fill(void) {$calls }"
} >fill.c
gcc -O0 -g -c fill.c || exit 1
spi_cc first "$SPI_TOP_SRCDIR/tests/programs/first.c" fill.o

timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace --tree --budget 3 -o t.d ./first >out 2>err
is "$?/$(cat out)" "0/as fast as ever" "a function of a nanosecond, after 6 000 that were called once" || diag "$(tail -n 3 err)"
nests t
is "$(calls_of t first 'once[0-9]*' | awk '{ n += $2 } END { print n }')" 6000 "these are recorded"
like "$(events_of t)" 'share = [1-9][0-9]+, .*"left_out".* function = "hot"' "that is left out"
is "$(events_of t | grep -c '"once')" 0 "and none of the 6 000"
tap_done
