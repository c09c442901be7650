#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# Rotations by a timer and by size, which no client commands: compact records of what was called before are in the chunk
# that ends, as records of the same calls are that are written at once; so each chunk can be read by itself.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree-names.sh"
spi_private "$@"
spi_cc plain "$SPI_TOP_SRCDIR/tests/programs/tree-program.c"
broker_daemon
app_start a ./plain 1 wait
in=$app_in
at=$(nm plain | awk '$3 == "top" { print toupper(substr($1, 14)) }')

# chunks SESSION - of each that has ended: its number, calls of branch() as they come, of top() in compact records
chunks() {
	local chunk n=0
	for chunk in "$1"/archives/*; do
		tree_read "$chunk" compact || return 1
		echo "$n $(grep -c ' spi:branch_entry:' "$chunk.names") $(grep -Ec "func_entry: .*addr = 0x[0-9A-F]*$at," "$chunk.names")"
		n=$((n + 1))
	done
}
# enough SESSION N - so many chunks have ended
enough() { [ "$(find "$1/archives" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | wc -l)" -ge "$2" ]; }

# rotated SESSION OPTION...
rotated() {
	local session=$1 until=$((SECONDS + 20 * SPI_PATIENCE)) calls=0 idle before
	shift
	lttng_ok create "$session" --output="$SPI_TMP/$session"
	lttng_ok enable-channel -u -s "$session" calls --subbuf-size 8K --num-subbuf 16 --monitor-timer 50000
	"$SPI_LTTNG" enable-event --spi --tree=top --compact --lib plain -f branch --exec plain -s "$session" -c calls >tree.log 2>&1 ||
		diag "$(cat tree.log)"
	lttng_ok start "$session"
	spi_wait 10 status_like "^applied.$app_pid.tree.top;lib=plain;compact.*active"
	spi_wait 10 status_like "^applied.$app_pid.call.branch;tag.*active"
	lttng_ok enable-rotation -s "$session" "$@"
	before=$(wc -l <a.out)
	exec {idle}<>"$SPI_TMP/.idle"
	while ! enough "$session" 5 && [ "$SECONDS" -lt "$until" ]; do
		echo >&"$in"
		calls=$((calls + 1))
		read -r -t 0.004 -u "$idle" || :
	done
	exec {idle}>&-
	# what is called while the command is being carried out is in no session's promise
	spi_wait 5 eval "[ \$(wc -l <a.out) -ge $((before + calls)) ]"
	lttng_ok destroy "$session"
	chunks "$session" >"$session.chunks"
	diag "$session: $(tr '\n' ';' <"$session.chunks")"
	[ "$(wc -l <"$session.chunks")" -ge 5 ]
	ok $? "rotations $1: there are chunks"
	# a call may be between its two records at that moment
	is "$(awk '$2 - $3 > 1 || $3 - $2 > 1' "$session.chunks")" "" "in each the calls that it is about"
	is "$(awk '{ b += $2; t += $3 } END { print b "/" t }' "$session.chunks")" "$calls/$calls" "all calls, once"
}
rotated timed --timer 300000
rotated sized --size 32K
exec {in}>&-
wait "$app_pid"
is $? 0 "the program ends as ever"
tap_done
