#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A daemon that is short of descriptors holds nobody; one whose worker was killed
# and is forked anew, in the middle of holds, works on.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
plugin_daemon "all delay=500"
record s
./app 1
spi_wait 5 log_counts ^HELD 1
# The first application's descriptors go some time after it: until ten looks in a row agree.
seen='' times=0
settled() {
	local now
	now=$(ls "/proc/$daemon/fd")
	[ "$now" = "$seen" ] && times=$((times + 1)) || times=0
	seen=$now
	[ "$times" -ge 10 ]
}
spi_wait 10 settled
highest=$(ls "/proc/$daemon/fd" | sort -n | tail -n 1)
before=$(prlimit --pid "$daemon" --nofile --raw --noheadings --output SOFT,HARD | tr ' ' :)
prlimit --pid "$daemon" --nofile="$((highest + 6)):${before#*:}"
./app 1
prlimit --pid "$daemon" --nofile="$before"
is "$(count_log ^HELD)" 1 "nobody is held when descriptors run short"

: >broker.log
./app 1 burst 30 >out &
apps=$!
spi_wait 10 log_counts ^HELD 10
worker=$(pgrep -P "$daemon" | while read -r pid; do
	grep -q consumerd "/proc/$pid/cmdline" || echo "$pid"; done | head -n 1)
[ -n "$worker" ] && kill -KILL "$worker"
ok $? "the daemon's worker is killed"
# Whatever becomes of this command: it needs a worker.
timeout 10 lttng create again --output="$SPI_TMP/again" >again.out 2>&1
timeout 10 lttng create again2 --output="$SPI_TMP/again2" >again.out 2>&1
is $? 0 "lttng create works with the next worker"
wait "$apps"
is $? 0 "the applications run"
is "$(recorded s)" 32 "every event"
tap_done
