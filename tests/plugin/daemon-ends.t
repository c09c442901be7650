#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The daemon ends, politely or not, while applications are held: it ends as ever,
# nothing of it stays, and they run on.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
for signal in TERM KILL; do
	: >broker.log
	plugin_daemon "all silent"
	./app 0 burst 20 >out &
	apps=$!
	spi_wait 10 log_counts ^HELD 1
	began=$(milliseconds)
	kill -"$signal" "$daemon"
	spi_wait 10 pid_gone "$daemon"
	ok $? "$signal: the daemon ends ($(($(milliseconds) - began)) ms)"
	wait "$apps"
	is $? 0 "$signal: the applications run on"
	spi_wait 5 eval '! pgrep -x fake-broker'
	ok $? "$signal: the broker ends"
done
plugin_daemon "all delay=10"
record s
./app 7
is "$(recorded s)" 7 "the next daemon has its applications"
tap_done
