#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A process that loads and unloads libraries while controllers come and go: none of its dlopen() waits for one that has gone,
# close() of any number is as ever, and no descriptor is left behind.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
cat >x.c <<'C'
static volatile int n;
__attribute__((noinline)) static void in(void) { n++; }
__attribute__((constructor)) void begin(void) { in(); in(); }
C
gcc -O1 -shared -fPIC -o libx.so x.c || { echo "Bail out! gcc"; exit 1; }
tree_cc loads-always loads-always.c -O1
background ./loads-always end ./libx.so
events_open() { find "/proc/$target/fd" -lname '*eventfd*' | wc -l; }

for round in 1 2 3 4 5; do
	rm -rf t
	what=--tree=main duration=0.3
	# the first time the agent itself loads something, and the rule waits for the library's next load
	[ "$round" != 1 ] || what='-flibx.so:*' duration=3
	timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace "$what" -p "$target" --duration "$duration" -o t >trace.log 2>&1
	ok $? "round $round: traced" || diag "$(tail -n 3 trace.log)"
	spi_wait 10 eval '! grep -qx lttng-spi "/proc/$target"/task/*/comm'
	[ "$round" != 1 ] || first=$(events_open)
done
is "$(events_open)" "$first" "no descriptor is left"
touch end
wait "$target"
is $? 0 "its status"
most=$(tail -n 1 target.out)
spi_soon "${most:-9999}" 1900 "no load of a library waits until its time is over"
tap_done
