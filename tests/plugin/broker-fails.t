#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 150
#
# A broker that is not there, dies, is silent or talks nonsense: the application
# registers at once or when the hold runs out, nothing is lost, and another
# broker is started where that may help.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build

# one MODE - start the daemon so, run the program; $took (ms) and $events
one() {
	: >broker.log
	plugin_daemon "$1"
	record "$2"
	began=$(milliseconds)
	./app 10 || diag "the program failed"
	took=$(($(milliseconds) - began))
	events=$(recorded "$2")
}
stop() {
	kill "$daemon"
	spi_wait 10 pid_gone "$daemon"
	spi_wait 5 eval '! pgrep -x fake-broker'
	ok $? "no broker is left behind"
}

one "all die" die
is "$events" 10 "the broker dies: every event"
spi_soon "$took" 1000 "the broker dies: at once"
spi_wait 5 log_counts ^START 2
ok $? "another one is started"
stop

one "all garbage" garbage
is "$events" 10 "nonsense: every event"
spi_soon "$took" 1000 "nonsense: at once"
spi_wait 5 log_counts ^START 2
ok $? "another one is started"
stop

one "all silent" silent
is "$events" 10 "silence: every event"
[ "$took" -ge 1900 ]
ok $? "silence: when the hold ran out" || diag "$took ms"
spi_soon "$took" 2900 "silence: not later"
is "$(count_log ^EXPIRED)" 1 "the broker is told"
stop

LTTNG_SPI_HOLD_MS=600 one "all silent" shorter
is "$events" 10 "a shorter hold: every event"
[ "$took" -ge 500 ]
ok $? "LTTNG_SPI_HOLD_MS" || diag "$took ms"
spi_soon "$took" 1500 "LTTNG_SPI_HOLD_MS: not later"
stop

one "no-table silent" notable
is "$events" 10 "no table: every event"
[ "$took" -ge 250 ]
ok $? "no table: after a short hold" || diag "$took ms"
spi_soon "$took" 1200 "no table: not later"
stop

LTTNG_SPI_BROKER=$SPI_TMP/nowhere one all absent
is "$events" 10 "no broker: every event"
spi_soon "$took" 1000 "no broker: at once"
stop

# Killed from outside while someone is held.
plugin_daemon "all silent"
record killed
: >broker.log
began=$(milliseconds)
./app 10 &
app=$!
spi_wait 5 log_counts ^HELD 1
kill -KILL "$(pgrep -x fake-broker)"
wait "$app"
took=$(($(milliseconds) - began))
spi_soon "$took" 1500 "killed while it holds: at once"
is "$(recorded killed)" 10 "killed while it holds: every event"
spi_wait 5 log_counts ^DAEMON 1
ok $? "another one is started"
stop

# Silent over and over: another one is tried.
LTTNG_SPI_HOLD_MS=500 plugin_daemon "all silent"
: >broker.log
loop() { until [ -e enough ]; do ./app 1; done; }
loop &
busy=$!
spi_wait 12 log_counts ^START 1
ok $? "a broker that answers nothing for seconds is replaced"
touch enough
wait "$busy"
stop
is "$(cat sessiond.log)" "" "nothing on the daemon's stderr"
tap_done
