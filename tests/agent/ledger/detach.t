#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
# timeout: 60
#
# A tree of a running process ends while its threads are within calls: these have
# their exits, and the process goes on as ever.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc waiting waiting.c -O1 -pthread

for kind in "" --compact; do
	rm -f go end
	./waiting go end >out &
	pid=$!
	spi_wait 10 test "/proc/$pid/exe" -ef ./waiting	# no longer the shell
	"$SPI_LTTNG" trace --tree $kind -o "t$kind" -p "$pid" 2>trace.err >/dev/null </dev/null &
	tracer=$!
	attached() { grep -q 'Trace directory' trace.err && grep -qx lttng-spi /proc/"$pid"/task/*/comm; }
	check "${kind:-plain}: attached" spi_wait 20 attached
	touch go
	# the deepest call is made when all threads sleep in it
	asleep() { [ "$(cat /proc/"$pid"/task/*/wchan | grep -c nanosleep)" -ge 4 ]; }
	spi_wait 10 asleep
	kill -INT "$tracer"
	wait "$tracer"
	TREE_COMPACT=${kind:+1} tree_balanced "t$kind" "${kind:-plain}: each entry has its exit" --counts counts
	[ -s counts ] && grep -q waiting counts
	ok $? "${kind:-plain}: its calls are recorded"
	touch end
	wait "$pid"
	is "$? $(cat out)" "0 10" "${kind:-plain}: the process goes on to its end"
done
tap_done
