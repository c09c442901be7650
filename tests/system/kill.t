#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 400
# soak-timeout: 3600
#
# kill -9 at random moments: of the session daemon, its consumer, the broker, one
# of the broker's children (asking, reading, injecting), spi-codemap, a target.
# Whatever was killed, the programs go on and give their results, none that lives
# is missing in the daemon that remains, they are traced again, and nothing of
# what was killed stays. 8 kills, or 200 (SPI_SOAK); SPI_SEED repeats a run.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
kills=8
[ -z "${SPI_SOAK:-}" ] || kills=200
kills=${SPI_KILLS:-$kills}
seed=${SPI_SEED:-$((SRANDOM % 32768))}
RANDOM=$seed
diag "$kills kills, SPI_SEED=$seed"
busy=4
spi_app
spi_cc alive "$SPI_PROGRAMS/alive.c" -Wl,--no-as-needed -llttng-ust
spi_cc hunt "$SPI_PROGRAMS/hunt.c"
exec {idle}<> <(:)
# moment MS - wait for some part of so many milliseconds
moment() { read -r -t "0.$(printf %03d $((RANDOM % $1)))" -u "$idle" || :; }

# ---- the daemon ------------------------------------------------------------

daemon_start() {
	local -a group=()
	[ "${SPI_OUTER_UID:-0}" = 0 ] || group=(--group root)
	"$SPI_SESSIOND" --no-kernel --daemonize "${group[@]}" >>sessiond.log 2>&1 || return 1
	sessiond=$(cat /run/lttng/lttng-sessiond.pid)
	kill -0 "$sessiond"
}
broker() { pgrep -x -o spi-broker; }
consumer() { pgrep -P "$sessiond" -f lttng-consumerd; }
session_number=0
session_start() {
	session=s$((session_number++))
	quiet lttng create "$session" -o "$PWD/traces/$session" &&
		quiet lttng enable-channel -u -s "$session" --tracefile-size 1M --tracefile-count 2 c &&
		quiet lttng add-context -u -s "$session" -c c -t vpid &&
		quiet lttng enable-event -u -s "$session" -c c 'spi:app_*' &&
		quiet lttng start "$session"
}

# ---- the programs ------------------------------------------------------------

declare -A pids=()	# number -> pid
alive_start() {
	rm -f "count.$1"
	./alive "count.$1" stop >"alive.$1" 2>&1 &
	pids[$1]=$!
}
# counts - the calls of every thread of every program: "PROGRAM COUNT COUNT", a line each
counts() {
	local n
	for n in "${!pids[@]}"; do echo "$n $(od -An -v -t u8 -N16 "count.$n" 2>/dev/null)"; done | sort
}
# All threads have made calls since `before`
progressed() { [ "$(join before <(counts) | awk '$4 > $2 && $5 > $3' | wc -l)" = "$busy" ]; }
# Short-lived ones, one after the other, until the file `enough` exists; each within its time
short_lived() {
	local out
	while [ ! -e enough ]; do
		out=$(timeout 20 ./app 5 2>&1)
		if [ "$out" = $'begun\nsum 63' ]; then echo right; else echo "wrong: $out"; fi
		moment 100
	done
}
everyone_listed() {
	local list n
	list=$(timeout 10 lttng list -u 2>/dev/null) || return 1
	for n in "${!pids[@]}"; do grep -q "PID: ${pids[$n]} " <<<"$list" || return 1; done
}
everyone_traced() {
	local status n
	status=$(spi_status 2>/dev/null)
	for n in "${!pids[@]}"; do grep -Pq "^applied\t${pids[$n]}\tapp_\\*\tactive\t" <<<"$status" || return 1; done
}
# Descriptors and mapped memfds of the programs that never end: number, how many
resources() {
	local n
	for n in "${!pids[@]}"; do
		[ "${pids[$n]}" = "${first[$n]}" ] && echo "$n $(ls "/proc/${pids[$n]}/fd" | wc -l) $(
			grep -c 'memfd:' "/proc/${pids[$n]}/maps")"
	done | sort -n
}
# Ours that belong to no living daemon
orphans() {
	local of
	of=$(broker)
	pgrep -x 'spi-broker|spi-codemap|spi-inject' | while read -r pid; do
		parent=$(ps -o ppid= -p "$pid" | tr -d ' ')
		[ -z "$parent" ] || [ "$pid" = "$of" ] || [ "$parent" = "$of" ] ||
			echo "$pid of $parent: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
	done
	pgrep -x lttng-sessiond | grep -vx "$sessiond" | while read -r pid; do
		parent=$(ps -o ppid= -p "$pid" | tr -d ' ')
		[ -z "$parent" ] || [ "$parent" = "$sessiond" ] || echo "daemon $pid"
	done
}
no_orphans() { [ -z "$(orphans)" ]; }

# ---- one kill ------------------------------------------------------------------

problem() { echo "kill $kill ($what): $*" >>problems; }

kill_target() {
	local n=$((busy - 1))
	kill -KILL "${pids[$n]}"
	wait "${pids[$n]}" 2>/dev/null
	moment 300
	alive_start "$n"
	spi_wait 15 test -s "count.$n" || problem "a program does not begin"
}
# One of the broker's children, while a program is being brought in: a rule is made, or a program begins
kill_child() {
	local victim pid
	victim=$(pgrep -P "$(broker)" | shuf -n 1 --random-source=<(yes $RANDOM))
	./app 1 >/dev/null &
	pid=$!
	moment 12
	[ -z "$victim" ] || kill -KILL "$victim" 2>/dev/null
	wait "$pid" || problem "a program that began then failed"
}
kill_codemap() {
	./hunt spi-codemap 3000 $((RANDOM % 12000)) >hunted &
	local hunter=$!
	quiet lttng enable-event -u -s "$session" -c c "spi:app_o*r_${kill}_entry"
	wait "$hunter" || echo "kill $kill: no spi-codemap was seen" >>missed
}
kill_one() {
	case $what in
	daemon) kill -KILL "$sessiond" ;;
	consumer) kill -KILL "$(consumer)" 2>/dev/null ;;
	broker) kill -KILL "$(broker)" ;;
	child) kill_child ;;
	codemap) kill_codemap ;;
	target) kill_target ;;
	esac
}
# After the end of the daemon, or of its consumer, which the stock daemon does not survive as one that records
daemon_again() {
	local start=$SECONDS
	spi_wait 10 no_daemon || problem "the daemon's processes stay"
	rm -rf traces/*
	daemon_start || { problem "no new daemon: $(tail -n 2 sessiond.log)"; return; }
	session_start || problem "no session: $(tail -n 2 quiet.log)"
	spi_wait 30 everyone_traced ||
		problem "not taken back: $(spi_status | grep -P '^(process|note|applied)' | head -n 8)"
	echo $((SECONDS - start)) >>returns
}
no_daemon() { ! pgrep -x 'lttng-sessiond|lttng-consumerd|spi-broker|spi-codemap|lttng-runas'; }
recorded_everyone() {
	local n
	quiet lttng stop "$session"
	babeltrace2 "traces/$session" 2>/dev/null | grep -a app_work_entry | grep -ao 'vpid = [0-9]*' | sort -u >vpids
	quiet lttng start "$session"
	for n in "${!pids[@]}"; do grep -qx "vpid = ${pids[$n]}" vpids || return 1; done
}

daemon_start || { echo "Bail out! spi-sessiond does not start"; exit 1; }
mkdir traces
# As of a broker that was killed while an agent in a container had it
mkdir /run/lttng/spi-home-stale && ln -s .. /run/lttng/spi-home-stale/.lttng
session_start || { echo "Bail out! no session: $(cat quiet.log)"; exit 1; }
for ((n = 0; n < busy; n++)); do alive_start "$n"; done
declare -A first=()
for n in "${!pids[@]}"; do first[$n]=${pids[$n]}; done
check "all are traced at first" spi_wait 30 everyone_traced
short_lived >short.out &
short=$!
kinds=(daemon broker child codemap target consumer)
: >problems
declare -A done=()
for ((kill = 1; kill <= kills; kill++)); do
	# Each kind in turn at first, so that even a short run has them all
	what=${kinds[$((kill <= ${#kinds[@]} ? kill - 1 : RANDOM % ${#kinds[@]}))]}
	moment 400
	was=$sessiond
	kill_one
	done[$what]=$((${done[$what]:-0} + 1))
	counts >before
	spi_wait 5 progressed || problem "a program stands still: $(diff before <(counts) | head -n 3)"
	case $what in
	daemon) daemon_again ;;
	consumer)
		# What is registered a stock daemon does not list any more, nor does it record: it is done
		[ -d "/proc/$was" ] || problem "the daemon has gone"
		kill -TERM "$sessiond"
		daemon_again
		;;
	*)
		[ -d "/proc/$was" ] || problem "the daemon has gone"
		spi_wait 15 everyone_listed || problem "the daemon has lost a registration: $(lttng list -u | grep PID)"
		spi_wait 25 everyone_traced ||
			problem "not traced again: $(spi_status | grep -P '^(process|note|applied)' | head -n 8)"
		;;
	esac
	spi_wait 10 recorded_everyone || problem "of ${pids[*]} recorded: $(tr '\n' ' ' <vpids)"
	counts >before
	spi_wait 5 progressed || problem "a program stands still afterwards"
	[ "$(jobs -rp | grep -cxF -f <(printf '%s\n' "${pids[@]}"))" = "$busy" ] ||
		problem "a program has ended: $(jobs | head -n 6)"
	spi_wait 5 no_orphans || problem "left over: $(orphans)"
	[ "$kill" != "${#kinds[@]}" ] || resources >resources.before
done
diag "killed: $(for what in "${!done[@]}"; do printf '%s %s  ' "$what" "${done[$what]}"; done)"
diag "short-lived programs meanwhile: $(wc -l <short.out)"
diag "times, seconds until a new daemon had all back: $(sort -n returns | uniq -c | tr -s '\n ' ' ')"
[ ! -s missed ] || diag "$(wc -l <missed) times no spi-codemap was seen"
is "$(head -n 20 problems)" "" "after each: all go on, none lost, traced and recorded again, nothing left over"
touch enough
wait "$short"
is "$(grep -v '^right$' short.out | head -n 3)" "" "short-lived programs gave their results within their time"
is "$(join resources.before <(resources) | awk '$4 > $2 || $5 > $3')" "" \
	"programs have no more descriptors or memfds than before" ||
	diag "$(cat resources.before; resources)"
touch stop
failed=0
for n in "${!pids[@]}"; do wait "${pids[$n]}" || failed=1; done
is "$failed" 0 "all end well, and had every result right"
kill "$sessiond"
check "the daemon ends" spi_wait 10 no_daemon
is "$(find /run/lttng -name 'spi*')" "" "nothing of ours in the run directory"
is "$(find /dev/shm -type f ! -name 'lttng-ust-*'; find /tmp -maxdepth 1 -newer alive -name 'lttng-spi-home*')" "" \
	"nor in /dev/shm and /tmp"
tap_done
