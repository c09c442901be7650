#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
# timeout: 200
# soak-timeout: 1500
#
# All sockets at once, fuzzed: that of agents, of status, of applications; then
# both ends of the line between plugin and broker. The daemon and its broker live,
# are no larger and have no more descriptors, and work on; a build with sanitizers
# has nothing to say. Some seconds, or ten minutes (SPI_SOAK). SPI_SEED repeats.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
seconds=${SPI_SOAK:+600}
seconds=${SPI_SECONDS:-${seconds:-5}}
seed=${SPI_SEED:-$RANDOM}
diag "$seconds seconds each, SPI_SEED=$seed"
export ASAN_OPTIONS=log_path=$SPI_TMP/said:quarantine_size_mb=4:malloc_context_size=12 UBSAN_OPTIONS=print_stacktrace=1
fuzz="$SPI_PROGRAMS/fuzz.py"
spi_app
spi_sessiond
broker=$(pgrep -x -o spi-broker)
quiet lttng create f -o "$PWD/f"
quiet lttng enable-event -u 'spi:app_first*'
quiet lttng start
./app 1 >/dev/null
# descriptors PID - without the code maps that the broker keeps for a minute; kept PID - those
descriptors() { find "/proc/$1/fd" -mindepth 1 ! -lname '*spi-code-map*' | wc -l; }
kept() { find "/proc/$1/fd" -mindepth 1 -lname '*spi-code-map*' | wc -l; }
# memory PID (kB, anonymous)
memory() { awk '/^RssAnon/ { print $2 }' "/proc/$1/status"; }
# what they are, without their numbers
kinds() { find "/proc/$1/fd" -mindepth 1 -printf '%l\n' | sed 's/[0-9][0-9]*//g' | sort | uniq -c; }
no_more() { [ "$(descriptors "$1")" -le "$2" ]; }

# A build with sanitizers is larger
sanitized=$(ldd "$SPI_TOP_BUILDDIR/broker/spi-broker" 2>/dev/null | grep -o 'lib[a-z]*san' | head -n 1)
for i in 1 2 3 4 5; do
	began=${EPOCHREALTIME/./}
	./app 1 >/dev/null
	usual=$(((${EPOCHREALTIME/./} - began) / 1000))
done
# A while of it first: what is made once, and how much memory is in turn
timeout 60 python3 "$fuzz" agents 2 1 >/dev/null
timeout 60 python3 "$fuzz" apps 2 1 >/dev/null
spi_wait 3 false || :
kinds "$sessiond" >kinds.daemon
kinds "$broker" >kinds.broker
declare -A fds=([daemon]=$(descriptors "$sessiond") [broker]=$(descriptors "$broker"))
declare -A size=([daemon]=$(memory "$sessiond") [broker]=$(memory "$broker"))
for what in agents status apps; do
	timeout $((seconds + 60)) python3 "$fuzz" "$what" "$seconds" "$seed" >"$what.out" 2>&1 &
	jobs[${#jobs[@]}]=$!
done
# Meanwhile programs come and go as ever
applications=0 wrong=0 until=$((SECONDS + seconds)) most=0
while [ "$SECONDS" -lt "$until" ]; do
	began=${EPOCHREALTIME/./}
	[ "$(timeout 20 ./app 2)" = $'begun\nsum 45' ] || wrong=$((wrong + 1))
	times[applications]=$(((${EPOCHREALTIME/./} - began) / 1000))
	applications=$((applications + 1))
	now=$(memory "$broker")
	[ "${now:-0}" -le "$most" ] || most=$now
	spi_wait 0 false || :
done
p99=$(printf '%s\n' "${times[@]}" | sort -n | sed -n "$(((applications * 99 + 99) / 100))p")
for job in "${jobs[@]}"; do wait "$job" || failed=1; done
is "${failed:-0}" 0 "all was said" || diag "$(tail -n 3 ./*.out)"
diag "$(cat agents.out status.out apps.out | tr '\n' ' '), $applications programs"
is "$wrong" 0 "programs that began meanwhile ran well"
spi_soon $((p99 - usual)) 500 "the start of 99 of 100 of them, ms beyond the usual $usual"
if [ -z "$sanitized" ]; then
	[ "$most" -lt 65536 ]
	ok $? "the broker had less than 64 MB meanwhile ($most kB)"
fi
kill -0 "$sessiond" && [ "$(pgrep -x -o spi-broker)" = "$broker" ]
ok $? "daemon and broker are the same"
# The stock daemon closes what it had for an application when the next ones come: some may stay
check "the daemon has no more descriptors" spi_wait 40 no_more "$sessiond" $((${fds[daemon]} + 24)) ||
	diag "$(kinds "$sessiond" | diff kinds.daemon -)"
check "nor the broker" spi_wait 40 no_more "$broker" "${fds[broker]}" ||
	diag "$(kinds "$broker" | diff kinds.broker -)"
[ "$(kept "$broker")" -le 160 ]
ok $? "and keeps no more code maps than it wants to ($(kept "$broker"))"
for what in daemon broker; do
	pid=$broker
	[ $what = broker ] || pid=$sessiond
	now=$(memory "$pid")
	diag "$what: ${size[$what]} kB, then $now kB"
	[ "$now" -le $((size[$what] + 16384)) ]
	ok $? "$what: no larger"
done
is "$(pgrep -P "$broker" -c -x spi-codemap)" 0 "nothing is analysed any more"
# The stock daemon may have no end for the session that such applications took part in
quiet timeout 30 lttng destroy f
quiet lttng create h -o "$PWD/h"
quiet lttng enable-event -u 'spi:app_first*'
quiet lttng start
timeout 20 ./app 1 >/dev/null
check "another session" timeout 30 lttng destroy h
is "$(spi_count h app_first_entry)" 1 "has the calls"
kill "$sessiond"
no_daemon() { ! pgrep -x 'lttng-sessiond|lttng-consumerd|spi-broker'; }
check "all end" spi_wait 30 no_daemon

# The broker, with a plugin that says anything; then the other way round
check "a broker survives any plugin, and ends with it" timeout $((seconds + 90)) \
	python3 "$fuzz" plugin "$((seconds < 60 ? seconds : seconds / 4))" "$seed" \
		"$SPI_TOP_BUILDDIR/broker/spi-broker" "$PWD/run"
install -m 755 "$fuzz" fake-broker
export LTTNG_SPI_BROKER=$PWD/fake-broker
"$SPI_SESSIOND" --no-kernel --daemonize $([ "${SPI_OUTER_UID:-0}" = 0 ] || echo --group root) >sessiond.log 2>&1
sessiond=$(cat /run/lttng/lttng-sessiond.pid)
spi_wait 10 pgrep -f fake-broker
ok $? "a daemon with a broker that says anything"
quiet lttng create g -o "$PWD/g"
quiet lttng enable-event -u 'app:*'
quiet lttng start
began=$(memory "$sessiond") wrong=0 applications=0 until=$((SECONDS + (seconds < 60 ? seconds : seconds / 4)))
while [ "$SECONDS" -lt "$until" ]; do
	[ "$(timeout 20 ./app 2)" = $'begun\nsum 45' ] || wrong=$((wrong + 1))
	applications=$((applications + 1))
	quiet timeout 20 lttng list || wrong=$((wrong + 1))
done
is "$wrong" 0 "$applications programs and as many commands work as ever"
kill -0 "$sessiond"
ok $? "the daemon lives"
[ "$(memory "$sessiond")" -le $((began + 16384)) ]
ok $? "and is no larger" || diag "$began kB, then $(memory "$sessiond") kB"
quiet timeout 30 lttng destroy g
kill "$sessiond"
check "and ends" spi_wait 30 no_daemon
is "$(cat said* 2>/dev/null | head -n 40)" "" "no sanitizer has anything to say"
tap_done
