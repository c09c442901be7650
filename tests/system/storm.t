#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 300
# soak-timeout: 1200
#
# Many processes under a rule: all at once (each instrumented before its main(),
# the daemon's commands answering meanwhile), and one after another (the daemon
# keeps nothing of them).
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
spi_app
spi_sessiond
at_once=${SPI_SOAK:+300}
at_once=${at_once:-100}
in_sequence=${SPI_SOAK:+1000}
in_sequence=${in_sequence:-100}
# The time-out that programs have by default, where time is judged.
[ -z "${SPI_SOAK:-}" ] || unset LTTNG_UST_REGISTER_TIMEOUT

# resources PID - its descriptors, threads and children
resources() {
	echo "$(find "/proc/$1/fd" -mindepth 1 | wc -l) $(find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l)" \
		"$(pgrep -P "$1" | wc -l)"
}

quiet lttng create storm -o "$PWD/storm"
quiet lttng enable-event -u 'spi:app_first_*'
quiet lttng start
./app 1 >/dev/null
for ((i = 0; i < at_once; i++)); do
	./app 1 >"out.$i" &
done
slowest=0
while [ "$(jobs -rp | wc -l)" -gt 0 ]; do
	start=$(date +%s%N)
	lttng list storm >/dev/null 2>&1
	took=$((($(date +%s%N) - start) / 1000000))
	[ "$took" -le "$slowest" ] || slowest=$took
	jobs >/dev/null
done
wait
quiet lttng stop
quiet lttng destroy storm
is "$(cat out.* | grep -c 'sum 43')" "$at_once" "$at_once processes at once: their output"
is "$(spi_count storm app_first_entry)" $((at_once + 1)) "each instrumented before main()" ||
	diag "$(spi_status | grep -P '^(process|note)' | tail -n 5)"
diag "slowest lttng list meanwhile: $slowest ms"

quiet lttng create many -o "$PWD/many"
quiet lttng enable-event -u 'spi:app_first_*'
quiet lttng start
for ((i = 0; i < 10; i++)); do
	./app 1 >/dev/null
done
# steady PID - the same twice, a while apart: what the ten left to be cleaned up is gone
steady() {
	local was
	was=$(resources "$1")
	spi_wait 1 false || :
	[ "$(resources "$1")" = "$was" ]
}
spi_wait 20 steady "$sessiond"
before=$(resources "$sessiond")
broker=$(pgrep -o -f spi-broker)
broker_before=$(resources "$broker")
for ((i = 0; i < in_sequence; i++)); do
	./app 1 >/dev/null
done
settled() { [ "$(resources "$sessiond")" = "$before" ]; }
spi_wait 30 settled
is "$(resources "$sessiond")" "$before" "$in_sequence processes in sequence leave nothing in the daemon"
broker_settled() { [ "$(resources "$broker" | cut -d" " -f1)" -le "${broker_before%% *}" ]; }
spi_wait 20 broker_settled
read -r -a now <<<"$(resources "$broker")"
read -r -a then <<<"$broker_before"
# helpers that had nothing to do may have ended meanwhile
[ "${now[0]}" -le "${then[0]}" ] && [ "${now[1]}" -le "${then[1]}" ] && [ "${now[2]}" -le "${then[2]}" ]
ok $? "nor in the broker" || diag "${then[*]} -> ${now[*]}"
quiet lttng stop
quiet lttng destroy many
is "$(spi_count many app_first_entry)" $((in_sequence + 10)) "each was instrumented before main()"
tap_done
