#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 180
# soak-timeout: 900
# Many programs that start at once under a rule, and many in sequence.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup
many=${SPI_SOAK:+300} many=${many:-80}
row=${SPI_SOAK:+1000} row=${row:-150}

record b 'spi:add_entry'
./app 1
pids=()
for _ in $(seq "$many"); do ./app 5 & pids+=($!); done
slow=0
for _ in 1 2 3 4 5; do
	began=${EPOCHREALTIME/./}
	lttng list >/dev/null || fail "lttng list meanwhile"
	took=$((${EPOCHREALTIME/./} - began))
	[ "$took" -le "$slow" ] || slow=$took
done
failed=0
for pid in "${pids[@]}"; do wait "$pid" || failed=$((failed + 1)); done
is "$failed" 0 "$many at once end well"
spi_soon "$((slow / 1000))" 500 "other commands are answered meanwhile"
recorded b
is "$(spi_count "$SPI_TMP/b" add_entry)" $((many * 5 + 1)) "each of them is traced from its first call on"

broker=$(pgrep -x spi-broker | head -n 1)
memory() { awk '/^VmRSS/ { print $2 }' "/proc/$broker/status"; }
open_files() { ls "/proc/$broker/fd" "/proc/$daemon/fd" | wc -l; }
threads() { ls "/proc/$broker/task" "/proc/$daemon/task" | wc -l; }
record r 'spi:add_entry'
for _ in $(seq 20); do ./app 1; done
spi_wait 10 none_runs
before_files=$(open_files) before_threads=$(threads) size=$(memory)
# no more than before: helpers that wait a while for the next process come and go
no_more() { [ "$(open_files)" -le "$before_files" ] && [ "$(threads)" -le "$before_threads" ]; }
for _ in $(seq "$row"); do ./app 5; done
check "$row in sequence are forgotten" spi_wait 10 none_runs
check "they leave no descriptor and no thread behind" spi_wait 20 no_more
[ "$(memory)" -le $((size + 512)) ]
ok $? "and no memory" || diag "$size kB before, $(memory) kB after"
recorded r
is "$(spi_count "$SPI_TMP/r" add_entry)" $((row * 5 + 20)) "and every call of theirs is recorded"
tap_done
