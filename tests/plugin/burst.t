#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# 300 programs at once, each held for 300 ms: all register, all events are recorded,
# and meanwhile the daemon answers its clients; in `make soak` also soon.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build

# burst - 300 programs, and lttng list over and over; $status, $slowest (main(), ms), $asked, $worst (ms)
burst() {
	local burst began took

	# Behind the others for the processors: the daemon's answers are measured, not the machine.
	nice ./app 1 burst 300 >burst.out 2>burst.err &
	burst=$!
	worst=0 asked=0
	while kill -0 "$burst" 2>/dev/null; do
		began=$(milliseconds)
		lttng list >list.out 2>&1 || diag "$(cat list.out)"
		took=$(($(milliseconds) - began))
		asked=$((asked + 1))
		[ "$took" -le "$worst" ] || worst=$took
	done
	wait "$burst"
	status=$?
	slowest=$(($(sort -n -k3 burst.out | tail -n 1 | cut -d' ' -f3) / 1000))
	diag "$1: slowest main() after $slowest ms; lttng list $asked times, worst $worst ms"
}

spi_daemon
daemon=$(cat /run/lttng/lttng-sessiond.pid)
record stock
burst stock
# What the machine can do at all, just now, the stock daemon has shown. A daemon that
# waited for what is held would need 300 times 300 ms.
limit=$((4 * worst))
[ "$limit" -ge 500 ] || limit=500
if [ "$slowest" -ge 1000 ]; then
	patience=$((6 * slowest))
	export LTTNG_UST_REGISTER_TIMEOUT=$patience
fi
kill "$daemon"
spi_wait 10 pid_gone "$daemon"

plugin_daemon "all delay=300"
record s
burst plugin
is "$status" 0 "300 programs ran"
[ "$asked" -gt 2 ]
ok $? "lttng list answers meanwhile"
spi_soon "$worst" "$limit" "lttng list, at most"
is "$(recorded s)" 300 "every program's event is recorded"
# The program that started them is an application, too.
is "$(count_log ^HELD)" 301 "every one was held"
is "$(count_log ^EXPIRED)" 0 "none ran out"
tap_done
