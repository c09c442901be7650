#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Rules with a scope bring in programs that know nothing of LTTng, by pid and by name; trackers keep others out.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup

app_start a ./plain 3 wait
a=$app_pid in=$app_in
app_start b ./plain 3 wait
b=$app_pid
record s "spi:call(add;pid=$a)" 'spi:*add*_entry'
check "the process named by pid is traced" spi_wait 10 status_like "^applied.$a.call.add;tag=.*active.1.1"
check "another one of the same program is not" status_unlike "^process.$b."
app_call "$in" 3 a.out
recorded s
is "$(spi_count "$SPI_TMP/s" add_entry)" 3 "its calls are recorded"

record t "spi:call(work;exec=pla%2a)" 'spi:work_nothing*'
check "by name" spi_wait 10 status_like "^applied.$a.call.work;tag=.*active.1.1"
check "by name, all of them" spi_wait 10 status_like "^applied.$b.call.work;tag=.*active.1.1"
check "and no others" status_unlike "^process.($$|$daemon)."
lttng_ok destroy t
check "no rule, no trace" spi_wait 10 status_like "^process.$b.0.idle"

lttng_ok create u --output="$SPI_TMP/u"
lttng_ok enable-event -u -s u 'spi:add_entry'
lttng_ok untrack -s u -u --vpid --all
lttng_ok start u
app_start c ./app 3 wait
c=$app_pid
like "$(status rule u)" 'enabled.0.instruments' "a session that tracks nobody"
check "traces nobody" status_unlike "^process.$c.0.traced"
lttng_ok track -s u -u --vpid "$c"
check "until it tracks somebody" spi_wait 10 status_like "^applied.$c.add.active"
lttng_ok untrack -s u -u --vpid "$c"
check "and no longer" spi_wait 10 status_like "^process.$c.0.idle"
tap_done
