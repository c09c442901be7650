#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program that a traced one has executed registers while a forked child of the same parent waits within fork(): it is not
# taken for one that waits there, too, and is traced from its first call.
. "${SPI_TOP_SRCDIR:?}/tests/broker/lib.sh"
spi_private "$@"
broker_setup
spi_cc parent "$BROKER_TESTS/within-fork.c" -O2 -Wl,--no-as-needed -llttng-ust

# connected N - so many connections more than before have come to the daemon, which is stopped
connections() { grep -c lttng-ust-sock- /proc/net/unix; }
connected() { [ "$(connections)" -ge $((before + $1)) ]; }
children() { [ "$(pgrep -c -P "$app_pid")" -ge 2 ]; }

record s 'spi:in_child_entry' 'spi:add_entry'
app_start p ./parent
check "the program that forks and executes is traced" spi_wait 10 status_like "^applied.$app_pid.in_child.*active"
before=$(connections)
kill -STOP "$daemon"
echo "./app 6" >&"$app_in"
check "what it executes comes to the daemon first" spi_wait 10 connected 1
echo >&"$app_in"
spi_wait 10 children
check "then the child, within fork()" spi_wait 10 connected 2
kill -CONT "$daemon"
exec {app_in}>&-
wait "$app_pid"
is "$?/$(grep ended p.out)" "0/ended 0" "they end as ever"
unlike "$(status)" "first calls may be missing" "nothing began too early"
recorded s
is "$(spi_count "$SPI_TMP/s" add_entry)" 6 "the calls of what was executed are recorded from the first"
is "$(spi_count "$SPI_TMP/s" in_child_entry)" 3 "and the child's"
tap_done
