#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A rule that is switched off before the broker has heard that it was made: a rule of the same name in another session is
# not taken for it.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup

record stays 'spi:add_entry,spi:add_exit'
record comes 'spi:nothing_here_entry'
app_start a ./app 3 wait
check "a program is traced" spi_wait 10 status_like "^applied.$app_pid.add.active.1.1.0"
mapfile -t helpers < <(pgrep -P "$(pgrep -x spi-broker | head -n 1)")
kill -STOP "${helpers[@]}"	# who asks the daemon: until the broker starts another, in 3 s
lttng_ok enable-event -u -s comes 'spi:add_entry,spi:add_exit'
lttng_ok disable-event -u -s comes spi:add_entry
lttng_ok disable-event -u -s comes spi:add_exit
app_call "$app_in" 4 a.out
kill -CONT "${helpers[@]}" 2>/dev/null
exec {app_in}>&-
wait "$app_pid"
is $? 0 "the program ends as ever"
recorded stays
is "$(spi_count "$SPI_TMP/stays" add_entry)/$(spi_count "$SPI_TMP/stays" add_exit)" 7/7 "the session that has the same rule has every call"
tap_done
