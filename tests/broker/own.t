#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The session daemon, its consumer daemons and our own processes carry the trace: no
# rule instruments them, whatever its pattern, also when one registers as an
# application; one that is named by its number is told of. Others of the pattern are.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup
cp plain lttng-plain
cp plain spi-plain
record s 'spi:call(add;exec=lttng%2a),spi:call(add;exec=spi-%2a),spi:call(main;pid='"$daemon"')'
./app 1 >/dev/null	# the consumer daemons are there
for name in lttng-plain spi-plain; do
	app_start "${name%-*}" "./$name" 3 wait
	pids+=("$app_pid")
	inputs+=("$app_in")
done
cp plain spi-codemap
app_start codemap ./spi-codemap 3 wait	# as a front end's, which is no child of the daemon's
codemap=$app_pid
inputs+=("$app_in")
for pid in "${pids[@]}"; do
	check "a program with such a name is traced" spi_wait 10 status_like "^applied.$pid.call\(add;tag=[0-9a-f]*\).active"
done
check "that the daemon is not, is said" spi_wait 5 status_like "^note.process $daemon .lttng-sessiond. belongs to"
consumer=$(pgrep -P "$daemon" -f consumerd | head -n 1)
[ -n "$consumer" ]
ok $? "there is a consumer daemon"
# brought in by somebody else, it registers with its own session daemon
check "lttng trace goes into the consumer daemon" timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f 'lttng_*' \
	-p "$consumer" --duration 0.1 -o "$PWD/t"
# two more looks
spi_wait 2 false
is "$(status process | awk -F'\t' -v own="$daemon $codemap $(pgrep -P "$daemon" | tr '\n' ' ') $(pgrep -x spi-broker | tr '\n' ' ')" '
	BEGIN { n = split(own, a, " "); for (i = 1; i <= n; i++) is[a[i]] = 1 } is[$2] && $4 == "traced"')" "" "none of the tracer's own is traced"
for in in "${inputs[@]}"; do exec {in}>&-; done
for pid in "${pids[@]}"; do
	wait "$pid"
	is $? 0 "the program ends as ever"
done
wait "$codemap"
is $? 0 "what is named as spi-codemap ends as ever"
check "the daemon ends as ever" kill "$daemon"
tap_done
