#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Rules that come by other ways than a command: a saved session, a trigger, a snapshot session.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup

lttng_ok create s --output="$SPI_TMP/s"
lttng_ok enable-event -u -s s 'spi:add_entry' --filter 'a > 1'
lttng_ok enable-event -u -s s 'spi:work_*' --exclude 'spi:work_exit'
lttng_ok enable-event -u -s s 'spi:call(app:main)'
lttng_ok save -o "$SPI_TMP/saved" s
lttng_ok destroy s
kill "$daemon"
spi_wait 10 pid_gone "$daemon"
broker_daemon
lttng_ok load -i "$SPI_TMP/saved/s.lttng" s
lttng_ok start s
app_start a ./app 5 wait
check "a loaded session's rules are in force" spi_wait 5 status_like "^applied.$app_pid.add.active"
check "those of the reserved form, too" spi_wait 5 status_like "^applied.$app_pid.call.app:main;tag=.*active"
like "$(status rule s channel0 'spi:work_*')" 'enabled' "and those with an exclusion"
recorded s
is "$(spi_count "$SPI_TMP/s" add_entry)" 3 "with their filters"
is "$(spi_count "$SPI_TMP/s" work_entry)/$(spi_count "$SPI_TMP/s" work_exit)" 5/0 "and exclusions"

lttng_ok add-trigger --name t --condition event-rule-matches --type=user --name='spi:work_entry' --action notify
check "a trigger's rule is in force" spi_wait 10 status_like "^applied.$app_pid.work.active"
like "$(status rule 'trigger t')" 'spi:work_entry.enabled.0.instruments' "and told of"
lttng_ok remove-trigger t
check "removed, it is not" spi_wait 10 status_like "^process.$app_pid.0.idle"

lttng_ok create n --snapshot --output="$SPI_TMP/n"
lttng_ok enable-event -u -s n 'spi:add_entry'
lttng_ok start n
check "a snapshot session" ./app 8
lttng_ok snapshot record -s n
is "$(babeltrace2 "$SPI_TMP"/n/* 2>/dev/null | grep -c 'spi:add_entry')" 8 "has the calls in its snapshot"
tap_done
