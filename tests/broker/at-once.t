#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# soak-timeout: 600
#
# A rule holds for every program that is started when the command that made it has
# returned, also when the broker knows of another rule for that program, and has
# yet to ask the daemon for this one.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
spi_app
spi_cc rule-then-run "$SPI_PROGRAMS/rule-then-run.c" -llttng-ctl
spi_sessiond
runs=${SPI_SOAK:+500}
runs=${runs:-40}

# Each has the daemon take longer to tell its rules.
for ((i = 0; i < 30; i++)); do
	quiet lttng create "other$i" -o "$PWD/other$i"
	quiet lttng enable-event -u -s "other$i" 'app:*'
done
quiet lttng create s -o "$PWD/s"
quiet lttng enable-event -u 'spi:app_work_entry'
quiet lttng start
quiet ./app 1
./rule-then-run s "$runs" ./app 1 >app.out 2>run.err
ok $? "a rule made, and a program started, $runs times" || diag "$(cat run.err)"
quiet lttng destroy s
is "$(spi_count s app_work_entry)" $((runs + 1)) "the rule that was there: each run recorded"
is "$(spi_count s app_first_entry)" "$runs" "the new one: each from main()'s first call on"
tap_done
