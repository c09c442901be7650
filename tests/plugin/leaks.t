#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 170
#
# Applications that come and go leave nothing in the daemon: no descriptor, no
# thread, no child, no memory, whether they were held or not.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
fds() { ls "/proc/$daemon/fd" | wc -l; }
threads() { ls "/proc/$daemon/task" | wc -l; }
private() { awk '/^Private_Dirty/ { n += $2 } END { print n }' "/proc/$daemon/smaps"; }
many() { for ((i = 0; i < $1; i++)); do ./app 1 >/dev/null; done; }
fds_are() { [ "$(fds)" -le "$1" ]; }

# The daemon alone grows by some 300 kB in its first thousands, and then no more.
times=200 limit=200
[ -z "${SPI_SOAK:-}" ] || times=3000 limit=600
for mode in "all delay=1" none; do
	: >broker.log
	SPI_DEBUG='' plugin_daemon "$mode"
	many 150
	spi_wait 5 log_counts '^(APP|HELD) ' 150
	fds=$(fds) threads=$(threads) before=$(private)
	: >broker.log
	many $times
	spi_wait 5 log_counts '^(APP|HELD) ' $times
	spi_wait 10 fds_are "$fds"
	ok $? "$mode: descriptors: $fds before, $(fds) after"
	is "$(threads)" "$threads" "$mode: threads"
	after=$(private)
	[ $((after - before)) -lt $limit ]
	ok $? "$mode: private memory: $before kB before, $after kB after"
	is "$(pgrep -c -P "$daemon")" "$(pgrep -c -P "$daemon" lttng)" "$mode: no child but the daemon's own"
	kill "$daemon"
	spi_wait 10 pid_gone "$daemon"
done
tap_done
