#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A broker that dies while it holds registrations: they are played back a few at a time, and the next one comes meanwhile. It
# is told of all of them, those included that the daemon has not got to yet.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
plugin_daemon "all silent"
record s
: >broker.log
apps=()
for _ in {1..6}; do ./app 10 & apps+=($!); done
check "six are held" spi_wait 5 log_counts ^HELD 6
# the daemon asks each of them a dozen questions
kill -STOP "${apps[@]}"
kill -KILL "$(pgrep -x fake-broker)"
check "another broker is started" spi_wait 5 log_counts ^DAEMON 1
all_told() { for pid in "${apps[@]}"; do sed '1,/^DAEMON/d' broker.log | grep -Eq "^(APP|HELD) .* pid=$pid " || return 1; done; }
check "it is told of all six" spi_wait 1 all_told || diag "$(cat broker.log)"
kill -CONT "${apps[@]}"
failed=0
for pid in "${apps[@]}"; do wait "$pid" || failed=1; done
is "$failed" 0 "they end as ever"
is "$(recorded s)" 60 "with every event"
is "$(cat sessiond.log)" "" "nothing on the daemon's stderr"
tap_done
