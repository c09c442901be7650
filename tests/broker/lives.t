#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# What programs do: fork, become another program, come in numbers, come with the agent already in them.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup

record f 'spi:add_entry'
started=${EPOCHREALTIME/./}
check "a program that forks" ./app 6 fork
took=$(((${EPOCHREALTIME/./} - started) / 1000))
spi_soon "$took" 500 "its child, within fork(), is not kept waiting"
is "$(status note | grep -c 'began before')" 0 "nor taken for one that began too early"
recorded f
is "$(spi_count "$SPI_TMP/f" add_entry)" 12 "its child's calls are recorded, too"

record e 'spi:add_entry'
app_start e ./app 6 exec 4
check "a program that becomes another is traced anew" spi_wait 10 status_like "^applied.$app_pid.add.active"
recorded e
is "$(spi_count "$SPI_TMP/e" add_entry)" 10 "from its new beginning on"

record m 'spi:add_entry'
status_pids=$(pgrep -x spi-broker | head -n 1)
descriptors() { ls "/proc/$status_pids/fd" | wc -l; }
before=$(descriptors)
for _ in $(seq 40); do ./app 5 & done
failed=0
for job in $(jobs -p); do [ "$job" = "$e_pid" ] || [ "$job" = "$app_pid" ] || wait "$job" || failed=1; done
is "$failed" 0 "forty at once all end well"
check "and are forgotten" spi_wait 10 eval '[ "$(status process | wc -l)" -le 1 ]'
check "once its injectors have gone, too, the broker has no more descriptors than before" \
	spi_wait 20 eval '[ "$(descriptors)" -le "$before" ]'
check "and no child that it did not wait for" spi_wait 5 eval '[ "$(ps -o stat= --ppid "$status_pids" | grep -c Z)" = 0 ]'
recorded m
is "$(spi_count "$SPI_TMP/m" add_entry)" 200 "every call of theirs is recorded"

record p 'spi:work_entry'
LD_PRELOAD=$SPI_TOP_BUILDDIR/liblttng-spi/.libs/liblttng-spi.so.0 LTTNG_SPI_SOCKET=/run/lttng/spi-agent ./plain 9
is $? 0 "a program that brings its agent along"
recorded p
is "$(spi_count "$SPI_TMP/p" work_entry)" 9 "is traced from main()'s first line on"
started=${EPOCHREALTIME/./}
LD_PRELOAD=$SPI_TOP_BUILDDIR/liblttng-spi/.libs/liblttng-spi.so.0 LTTNG_SPI_SOCKET=/run/lttng/spi-agent ./plain 9
is $? 0 "and without a rule it ends as ever"
spi_soon $(((${EPOCHREALTIME/./} - started) / 1000)) 1500 "without a rule it does not wait"
tap_done
