#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Compact records in sessions that come and go: two at once, one that is stopped
# and started, one that takes snapshots. What a thread keeps back is in the trace
# soon after, though the thread rests.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
spi_daemon
spi_cc ways "$SPI_TOP_SRCDIR/tests/programs/ways.cc" -fno-optimize-sibling-calls

# open_session NAME [OPTION...]
open_session() {
	local name=$1
	shift
	lttng -q create "$name" --output="$SPI_TMP/$name" "$@" &&
		lttng -q enable-event -u -s "$name" 'spi_tree:*' && lttng -q add-context -u -s "$name" -t vpid -t vtid &&
		lttng -q start "$name"
}

# entries NAME - func_entry events of a trace that may still be written to, behind the sub-buffers that are full
entries() {
	expand "$1"
	grep -c func_entry "$1.expanded"
}

open_session one
open_session snap --snapshot
coproc WAYS { exec "${SPI_ALONE[@]}" LTTNG_SPI_RULES='call(ways:t_*;compact)' ./ways rest; }
ways=$WAYS_PID
read -r -t 20 line <&"${WAYS[0]}"
is "$line" resting "the program runs"

# call N - the program makes N times 44 calls, then rests; the records are flushed, by someone else, within the wait
call() {
	local seconds=${EPOCHREALTIME/./}
	printf 'c%.0s' $(seq "$1") >&"${WAYS[1]}"
	spi_wait 5 waited "$seconds"
}
waited() { [ $((${EPOCHREALTIME/./} - $1)) -gt 300000 ]; }

call 100
lttng -q snapshot record -s snap
call 10
open_session two
call 100
lttng -q stop one
is "$(entries one)" $((210 * 44 + 1)) "a session that is stopped has all, though the thread rests"
call 30
lttng -q start one
call 50
lttng -q snapshot record -s snap
lttng -q stop two
is "$(entries two)" $((180 * 44)) "a session that began later has what came later"
eval "exec ${WAYS[1]}>&-"
wait "$ways"
lttng -q destroy one
lttng -q destroy two
lttng -q destroy snap
is "$(entries one)" $((260 * 44 + 1)) "stopped and started again: what came in between is missing"
check "balanced" python3 "$compare" balance one.expanded
check "the later one, too" python3 "$compare" balance two.expanded
snaps=("$SPI_TMP"/snap/*)
is "${#snaps[@]}" 2 "two snapshots"
for i in 0 1; do
	mv "${snaps[i]}" "snap$i"
done
is "$(entries snap0)" $((100 * 44 + 1)) "the first snapshot"
check "balanced but for what goes on" python3 "$compare" balance snap0.expanded --open 1
is "$(cat snap0.warn)" "" "it knows all numbers"
is "$(entries snap1)" $((290 * 44 + 1)) "the second one, with what came while the other session was stopped"
tap_done
