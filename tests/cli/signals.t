#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# Signals to the front end: ^C is COMMAND's, as is what is sent to the group;
# SIGTERM and SIGHUP to the front end alone are passed on, a second one ends the
# tracing alone. Whatever comes, nothing is left behind.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
export TMPDIR=$PWD/tmp && mkdir tmp

cat >patient.c <<'EOF'
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t last;
static void note(int s) { last = s; }
__attribute__((noinline)) int p_step(int i) { __asm__ volatile(""); return i + 1; }

/* patient SIGNALS: ends at the SIGNALS'th signal with 100 + its number; or at 'stubborn' only when killed */
int main(int argc, char **argv)
{
	int left = argc > 1 ? argv[1][0] - '0' : 1;
	sigset_t set, old;
	struct sigaction a = { .sa_handler = note };

	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	sigaction(SIGHUP, &a, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &old);
	p_step(0);
	printf("ready\n");
	fflush(stdout);
	while (left > 0) {
		sigsuspend(&old);
		printf("signal %d\n", last);
		fflush(stdout);
		left--;
	}
	return 100 + last;
}
EOF
spi_cc patient patient.c

nothing_left() {
	is "$(ps -C lttng-relayd,babeltrace2 --no-headers | wc -l)/$(ls tmp)/$(lttng list 2>/dev/null | grep -cE '^ *[0-9]+\)')" 0//0 \
		"$1: no daemon, file or session is left"
}

# start ARGS... - in a process group of its own, as a shell with job control would; $tracer
start() {
	: >trace.out
	setsid --fork sh -c 'echo $$ >tracer.pid; exec "$0" "$@"' "$SPI_LTTNG" trace "$@" >trace.out 2>trace.err </dev/null
	spi_wait 20 file_has trace.out ready || diag "$(cat trace.err)"
	tracer=$(cat tracer.pid)
}
# The status of a process that is not our child is seen through a parent that writes it down.
start_status() {
	: >trace.out
	rm -f status
	setsid --fork sh -c 'trap : INT TERM HUP; "$0" "$@" & echo $! >tracer.pid; while :; do wait $!; s=$?; kill -0 $! 2>/dev/null || break; done; echo $s >status' \
		"$SPI_LTTNG" trace "$@" >trace.out 2>trace.err </dev/null
	spi_wait 20 file_has trace.out ready || diag "$(cat trace.err)"
	tracer=$(cat tracer.pid)
}

for where in live dir; do
	output=()
	[ $where = live ] || output=(-o)
	for signal in TERM HUP; do
		rm -rf t
		start_status -f p_step "${output[@]}" ${output:+t} ./patient 1
		kill -$signal "$tracer"
		spi_wait 30 test -s status
		number=$(kill -l $signal)
		is "$(cat status)" $((100 + number)) "$where, SIG$signal to the front end: the command got it" || diag "$(cat trace.err)"
		like "$(cat trace.out)" "signal $number" "$where, SIG$signal: seen"
		nothing_left "$where, SIG$signal"
	done
	rm -rf t
	start_status -f p_step "${output[@]}" ${output:+t} ./patient 1
	# ^C: the terminal sends it to the whole foreground group, here the group of `patient` and the front end
	kill -INT -- "-$(ps -o pgid= -p "$tracer" | tr -d ' ')"
	spi_wait 30 test -s status
	is "$(cat status)" 102 "$where, ^C: the command got it once, and its status passed" || diag "$(cat trace.err)"
	is "$(grep -c '^signal 2' trace.out)" 1 "$where, ^C: once"
	like "$(cat trace.err)" 'Session .* destroyed' "$where, ^C: an orderly end"
	nothing_left "$where, ^C"
done

# A second SIGTERM ends the tracing; the command runs on.
rm -rf t
start_status -f p_step -o t ./patient 9
patient=$(pgrep -x patient)
kill -TERM "$tracer"
spi_wait 20 file_has trace.out 'signal 15'
kill -TERM "$tracer"
spi_wait 30 test -s status
is "$(cat status)" 143 "SIGTERM twice: the front end ends by it" || diag "$(cat trace.err)"
kill -0 "$patient"
ok $? "SIGTERM twice: the command runs on"
check "SIGTERM twice: without instrumentation" python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$patient"
nothing_left "SIGTERM twice"
kill -KILL "$patient"

# Signals that the group gets come to the command once, and those for the front end alone as well.
cat >counting.c <<'EOF'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) int p_step(int i) { __asm__ volatile(""); return i + 1; }

/* counting [apart]: the signals that come until none does for a second; 'apart': in a group of its own */
int main(int argc, char **argv)
{
	struct timespec pause = { 1, 0 };
	sigset_t set;
	int signal;

	if (argc > 1)
		setpgid(0, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	p_step(0);
	printf("ready\n");
	fflush(stdout);
	signal = sigwaitinfo(&set, NULL);
	while (signal > 0) {
		printf("signal %d\n", signal);
		fflush(stdout);
		signal = sigtimedwait(&set, NULL, &pause);
	}
	return 7;
}
EOF
spi_cc counting counting.c
counted() {	# counted EXPECTED NAME - the signals that came, and an orderly end
	spi_wait 30 test -s status
	is "$(sed -n 's/^signal //p' trace.out | tr '\n' ' ')$(cat status)" "$1 7" "$2" || diag "$(cat trace.err)"
	like "$(cat trace.err)" 'Events recorded: 2 ' "$2: traced to the end"
}
sentinel_of() { ps -o pid=,comm= --ppid "$1" | sed -n 's/^ *\([0-9]*\) lttng-sentinel$/\1/p'; }
# has_taken PID NUMBER - it does not have the signal to come any more: until then another of that number would be the same one
has_taken() {
	local name mask
	while read -r name mask; do
		case $name in
		SigPnd: | ShdPnd:) [ $((0x$mask >> ($2 - 1) & 1)) = 0 ] || return 1 ;;
		esac
	done <"/proc/$1/status"
}
for signal in TERM HUP INT; do
	number=$(kill -l $signal)
	rm -rf t
	start_status -f p_step -o t ./counting
	kill -$signal -- "-$(ps -o pgid= -p "$tracer" | tr -d ' ')"
	counted "$number" "SIG$signal to the group: the command got it once"
	rm -rf t
	start_status -f p_step -o t ./counting
	kill -$signal -- "-$(ps -o pgid= -p "$tracer" | tr -d ' ')"
	spi_wait 20 file_has trace.out "signal $number"
	sentinel=$(sentinel_of "$tracer")
	spi_wait 20 has_taken "$tracer" "$number"
	[ -z "$sentinel" ] || spi_wait 20 has_taken "$sentinel" "$number"	# it is asked then
	kill -INT "$tracer"
	counted "$number 2" "SIG$signal to the group, then SIGINT to the front end alone: one of each"
done
rm -rf t
start_status -f p_step -o t ./counting apart
kill -TERM -- "-$(ps -o pgid= -p "$tracer" | tr -d ' ')"
counted 15 "a command in a group of its own: passed on"
# timeout(1) sends to its child, and to the group
timeout --preserve-status 4 "$SPI_LTTNG" trace -f p_step -o timed ./counting >trace.out 2>trace.err
echo $? >status
counted 15 "timeout(1): once"
nothing_left "signals to the group"

# What a front end that is killed leaves is to be among what goes with the test.
chmod 711 "$SPI_TMP"
XDG_RUNTIME_DIR=$SPI_TMP start -f p_step -o killed ./counting
sentinel=$(sentinel_of "$tracer")
check "the sentinel is there" [ -n "$sentinel" ]
is "$(ls "/proc/$sentinel/fd" | wc -l)" 1 "the sentinel holds no file of the front end's or the command's"
kill -KILL "$tracer"
not_there() { ! kill -0 "$1" 2>/dev/null || [ "$(ps -o stat= -p "$1" | cut -c 1)" = Z ]; }
check "the sentinel ends with a front end that is killed" spi_wait 20 not_there "$sentinel"
kill -KILL "$(pgrep -x counting)"
lttng destroy -a >destroyed 2>&1

# -p: SIGTERM ends it in order too.
./patient 9 >trace2.out &
patient=$!
spi_wait 10 file_has trace2.out ready
rm -f trace.err
"$SPI_LTTNG" trace -f p_step -o tp -p "$patient" >trace.out 2>trace.err &
tracer=$!
spi_wait 20 file_has trace.err 'Trace directory'
kill -TERM "$tracer"
wait "$tracer"
is $? 143 "-p, SIGTERM: status"
like "$(cat trace.err)" 'Session .* destroyed' "-p, SIGTERM: an orderly end"
check "-p, SIGTERM: the process is as it was" python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$patient"
nothing_left "-p, SIGTERM"

# --duration, and one that was too short to see anything.
for duration in 0.3 0.001; do
	rm -rf td
	check "--duration $duration" "$SPI_LTTNG" trace -f p_step -o td -p "$patient" --duration $duration
	check "--duration $duration: the process is as it was" python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$patient"
done
nothing_left "--duration"
kill -KILL "$patient"
wait "$patient" 2>/dev/null
tap_done
