#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# A stock daemon with sessions and applications gets the plugin while it runs: both come under their rules.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
spi_cc app "$SPI_PROGRAMS/lines.c" -Wl,--no-as-needed -llttng-ust
spi_daemon
daemon=$(cat /run/lttng/lttng-sessiond.pid)
record old 'spi:add_entry'
app_start a ./app 3 wait
a=$app_pid in=$app_in
check "the plugin is attached" "$SPI_TOP_BUILDDIR/spi-sessiond-plugin/spi-sessiond" --attach "$daemon"
check "the broker comes" spi_wait 10 status_like $'^daemon\t'"$daemon"$'\tattached'
check "a session that was there instruments a program that was there" spi_wait 10 status_like "^applied.$a.add.active"
app_call "$in" 6 a.out
lttng_ok enable-event -u -s old 'spi:work_entry'
check "and so does a new rule" spi_wait 10 status_like "^applied.$a.work.active"
app_call "$in" 2 a.out
check "a new program is traced from its first call on" ./app 5
recorded old
is "$(spi_count "$SPI_TMP/old" add_entry)" 13 "all is recorded"
is "$(spi_count "$SPI_TMP/old" work_entry)" 7 "by each rule"
tap_done
