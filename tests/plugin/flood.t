#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Applications that register faster than the broker reads: the daemon keeps few
# messages, everybody gets through, the broker stays the same one, and learns of
# who is still there when it has caught up.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
plugin_daemon none
mkfifo fifo
broker=$(pgrep -x fake-broker)
before=$(ls "/proc/$daemon/fd" | wc -l)
kill -STOP "$broker"
spi_cc register "$SPI_PROGRAMS/register.c" -D_GNU_SOURCE
began=${EPOCHREALTIME/./}
timeout 60 ./register "$(ls /run/lttng/lttng-ust-sock-* | head -n 1)" 1500
is $? 0 "1500 registrations"
background ./app 1 wait fifo
exec 9>fifo
kept=$(($(ls "/proc/$daemon/fd" | wc -l) - before))
[ "$kept" -lt 1100 ]
ok $? "the daemon keeps $kept descriptors"
: >broker.log
silent=$(((${EPOCHREALTIME/./} - began) / 1000))
kill -CONT "$broker" 2>kill.log
if [ "$silent" -lt 4500 ]; then
	spi_wait 10 file_has broker.log "^APP .*pid=$target "
	ok $? "who is still there is told of"
	is "$(pgrep -x fake-broker)" "$broker" "by and to the same broker"
else
	skip "by and to the same broker" "the registrations took $silent ms here: a broker that is silent for 5 s is ended"
fi
few() { [ $(($(ls "/proc/$daemon/fd" | wc -l) - before)) -lt 50 ]; }
spi_wait 10 few
ok $? "no descriptor stays ($(($(ls "/proc/$daemon/fd" | wc -l) - before)) more)"
exec 9>&-
wait "$target"
tap_done
