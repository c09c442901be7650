#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program linked with lttng-ust is held until the broker releases it, and then
# registers as ever: all of its events are there, from main()'s first line on.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
plugin_daemon "all delay=300"
record s
out=$(APP_BEGAN=$(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime) ./app 100)
is $? 0 "the program runs"
delay=${out##* }
[ "$delay" -ge 300000 ]
ok $? "main() began after the hold" || diag "$delay us"
spi_soon $((delay / 1000)) 1500 "and soon after"
is "$(recorded s)" 100 "every event is recorded"
like "$(grep ^HELD broker.log)" "^HELD id=1 pid=[0-9]+ uid=$(id -u) bits=64 deadline=2000 name=app pidfd=yes$" \
	"the broker was told of one application"
is "$(count_log ^EXPIRED)" 0 "no deadline passed"
run='(/var)?/run/lttng'
like "$(grep ^DAEMON broker.log)" \
	"^DAEMON $daemon uid=$(id -u) generation=0 client=$run/client-lttng-sessiond app=$run/lttng-ust-sock-[0-9]+$" \
	"the broker knows the daemon and its sockets"
is "$(tr '\0' '\n' <"/proc/$daemon/environ" | grep -c lttng-spi-sessiond)" 1 "the plugin was preloaded"
is "$(cat sessiond.log)" "" "nothing on the daemon's stderr"
tap_done
