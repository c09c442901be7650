#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# What the broker says of rules and processes, and to whom.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup

record s 'spi:add_entry' 'spi:*_exit' 'spi:call(app:work)' 'spi:wood(main)' 'spi:nosuch_entry'
app_start a ./app 3 wait
check "an application is traced" spi_wait 10 status_like "^applied.$app_pid.add.active"
out=$(status)
like "$out" $'\ndaemon\t'"$daemon"$'\tplugin\t' "the daemon"
version=$(lttng-sessiond --version)
check "of which version it is" spi_wait 10 status_like "^daemon.$daemon.plugin.${version//./\\.}$"
like "$out" $'\nrule\ts\tchannel0\tspi:add_entry\tenabled\t0\tinstruments\t' "a rule that instruments"
like "$out" $'\nrule\ts\tchannel0\tspi:\\*_exit\tenabled\t0\trecords\t' "one that records only"
like "$out" $'\nrule\ts\tchannel0\tspi:call\\(app:work\\)\tenabled\t0\tinstruments\twork of app' "a reserved form, readably"
like "$out" $'\nrule\ts\tchannel0\tspi:wood\\(main\\)\tenabled\t0\trecords\tunknown form' "one that is not understood, and why"
like "$out" $'\nprocess\t'"$app_pid"$'\t0\ttraced\tapp\t' "the process"
like "$out" $'\napplied\t'"$app_pid"$'\tcall\\(app:work;tag=[0-9a-f]{8}\\)\tactive\t1\t1\t0' "what was applied"
like "$out" $'\napplied\t'"$app_pid"$'\tnosuch\tfailed\t0\t0\t0\tno loaded function matches' "what could not be, and why"
like "$out" $'\ncounts\t'"$app_pid"$'\t' "its counters"
# What can't be is tried again whenever there are other rules, and said once
lttng_ok enable-event -u -s s "spi:call(app:_start)"
for i in 1 2 3; do
	lttng_ok enable-event -u -s s "spi:nosuch_${i}_entry"
	spi_wait 10 status_like "^applied.$app_pid.nosuch_$i.failed"
	ok $? "another rule, number $i"
done
is "$(status declined "$app_pid")" $'declined\t'"$app_pid"$'\tapp\t_start\tthe process\'s first code, never called' \
	"a function that is not instrumented is named once"
like "$(status counts)" $'\t1$' "and counted once"
lttng_ok disable-event -u -s s "spi:call(app:_start)"
if [ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ]; then
	like "$(setpriv --reuid 4711 --clear-groups /usr/bin/python3 "$SPI_TOP_SRCDIR/tests/lib/broker-status.py" 2>&1)" $'^version\t1\ndaemon[^\n]*\nbroker\t[0-9]+$' \
		"another user sees neither root's rules nor root's processes"
else
	skip "another user sees nothing of it" "needs root"
fi
# A client that asks and does not read, and 40 that connect and hang up.
python3 - <<'P'
import socket
kept = []
for i in range(40):
    s = socket.socket(socket.AF_UNIX)
    s.connect("/run/lttng/spi-status")
    s.close()
s = socket.socket(socket.AF_UNIX)
s.connect("/run/lttng/spi-status")
P
check "a client that hangs up does no harm" status_has version
tap_done
