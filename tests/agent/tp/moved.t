#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 180
# soak-timeout: 3600
#
# Threads that are moved to another processor in the middle of a record write into
# a buffer beside whoever records there: time in it must not go back, or
# babeltrace2 refuses the trace. Several programs share the buffers.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
[ "$(nproc)" -gt 1 ] || skip_all "one processor"
spi_sessiond
gcc -O2 -pthread -o moved "$SPI_PROGRAMS/moved.c"
times=2 ms=800
[ -z "${SPI_SOAK:-}" ] || times=40 ms=4000

# moved NAME PROGRAMS - so many at the same time, recorded
moved() {
	local name=$1 bad=0 moves=0 events=0 i k pids
	for i in $(seq "$times"); do
		rm -rf t t.txt && lttng create moved -o "$PWD/t" >/dev/null
		lttng enable-channel -u c --subbuf-size 256k --num-subbuf 8 >/dev/null
		lttng enable-event -u -c c 'spi:work*' >/dev/null
		lttng start >/dev/null
		pids=
		for k in $(seq "$2"); do
			LD_PRELOAD=liblttng-ust.so.1 ./moved "$ms" $((70 + 30 * k)) >"out.$k" &
			pids="$pids $!"
		done
		# shellcheck disable=SC2086
		wait $pids
		{ lttng stop && lttng destroy moved; } >/dev/null
		moves=$((moves + $(awk "{ n += \$1 } END { print n + 0 }" out.*)))
		babeltrace2 convert t --component sink.utils.counter >counted 2>errors || { bad=$((bad + 1)); cp errors first.errors; }
		events=$((events + $(awk '/Event messages/ && $1 > n { n = $1 } END { print n + 0 }' counted)))
	done
	is "$bad" 0 "$name: all of $times traces can be read" || diag "$(tail -n 2 first.errors)"
	[ "$events" -gt 100000 ] && [ "$moves" -gt 1000 ]
	ok $? "$name: there was something to read" || diag "$events events, $moves moves"
	diag "$name: $events events, $moves moves"
}
moved "one program" 1
moved "three programs" 3
tap_done
