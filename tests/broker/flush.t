#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# timeout: 110
#
# What was called before a command is in what the command saves: compact records of a
# thread that rests, in snapshots, also a trigger's, rotations, after a stop and a destroy. A process
# that does not answer (it is stopped) holds nobody up, and is named.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree-names.sh"
spi_private "$@"
spi_cc plain "$SPI_TOP_SRCDIR/tests/programs/tree-program.c"
broker_daemon
rounds=6
[ -z "${SPI_SOAK:-}" ] || rounds=60

# tree SESSION [OPTION...] - a session with a compact tree of the running program
tree() {
	local session=$1
	shift
	lttng_ok create "$session" --output="$SPI_TMP/$session" "$@"
	lttng_ok enable-channel -u -s "$session" calls --subbuf-size 1M --num-subbuf 4
	"$SPI_LTTNG" enable-event --spi --tree=top --compact --lib plain --exec plain -s "$session" -c calls >tree.log 2>&1 ||
		diag "$(cat tree.log)"
	lttng_ok start "$session"
	spi_wait 10 status_like "^applied.$app_pid.tree.top;lib=plain;compact.*active"
}
# tops DIR - how often top() was called, and returned; told by its address, as a snapshot may lack the objects' places
tops() {
	local at
	at=$(nm plain | awk '$3 == "top" { print toupper(substr($1, 14)) }')
	tree_read "$1" compact && sed -nE "s/.*func_(entry|exit): .*addr = 0x[0-9A-F]*$at,.*/\\1/p" "$1.names" |
		awk '{ n[$1]++ } END { print "top=" n["entry"] + 0 "/" n["exit"] + 0 }'
}

app_start a ./plain 4 wait
in=$app_in
tree snap --snapshot
wrong=
for round in $(seq "$rounds"); do
	app_call "$in" 1 a.out
	lttng_ok snapshot record -s snap
	mv snap/* "s$round"
	got=$(tops "s$round")
	kept=$((round < 4 ? round : 4))		# each begins another one of the 4 sub-buffers
	[ "$got" = "top=$kept/$kept" ] || wrong+=" $round:$got"
done
is "$wrong" "" "$rounds snapshots, each right after a call"
lttng_ok destroy snap

# What a trigger asks for is carried out inside of the daemon, with no client: the event is another process's.
cat >fire.c <<'C'
#include <lttng/tracef.h>
#include <stdio.h>
int main(void)
{
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		lttng_ust_tracef("now");
	return 0;
}
C
spi_cc fire ./fire.c -llttng-ust
mkfifo fire.in
./fire <fire.in >fire.out &
fire=$!
exec {fire_in}>fire.in
spi_wait 10 file_has fire.out ready
tree late --snapshot
lttng_ok add-trigger --name now --condition event-rule-matches --type=user --name='lttng_ust_tracef:event' --action snapshot-session late
taken() { [ -n "$(find late -name 'calls_*' -size +0 2>/dev/null)" ]; }
wrong=
for round in $(seq "$rounds"); do
	app_call "$in" 1 a.out
	echo >&"$fire_in"
	spi_wait 10 taken || diag "round $round: no snapshot"
	lttng_ok list late			# waits for the session, which the snapshot holds
	mv late/* "l$round"
	got=$(tops "l$round")
	kept=$((round < 4 ? round : 4))
	[ "$got" = "top=$kept/$kept" ] || wrong+=" $round:$got"
done
is "$wrong" "" "$rounds snapshots by a trigger, each right after a call"
lttng_ok remove-trigger now
exec {fire_in}>&-
wait "$fire"
lttng_ok destroy late

tree held
wrong='' calls=0
for round in $(seq "$rounds"); do
	app_call "$in" 1 a.out
	lttng_ok stop held
	calls=$((calls + 1))
	got=$(tops held)
	[ "$got" = "top=$calls/$calls" ] || wrong+=" $round:$got"
	lttng_ok start held
done
is "$wrong" "" "a session is stopped $rounds times, each time right after a call"
app_call "$in" 1 a.out
lttng_ok rotate held
calls=$((calls + 1))
is "$(tops held/archives)" "top=$calls/$calls" "a rotation"
app_call "$in" 1 a.out
calls=$((calls + 1))
lttng_ok destroy held
is "$(tops held)" "top=$calls/$calls" "the end of the session"

tree last
app_call "$in" 1 a.out
kill -STOP "$app_pid"
before=${EPOCHREALTIME/./}
lttng_ok list
took=$(((${EPOCHREALTIME/./} - before) / 1000))
kill -CONT "$app_pid"
spi_soon "$took" 1500 "a command while the process is stopped"
check "which is named" spi_wait 5 status_like 'did not write its compact records'
lttng_ok destroy last
exec {in}>&-
wait "$app_pid"
is $? 0 "the program ends as ever"
tap_done
