#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# A tree that begins at a signal, in a program that ignores the signal, as its parent did, or does not: what it sees of that,
# what programs that it executes inherit, and that the tree begins.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc ignoring ignoring.c -O1 -fno-optimize-sibling-calls

# usual HOW ARG... - `trap HOW`, and the program as it runs untraced, in plain.out
usual() {
	local how=$1
	shift
	# shellcheck disable=SC2064
	(trap "$how" USR1; exec ./ignoring "$@") <<<go >plain.out
}

# begun HOW NAME COMMAND... - traced, and signalled when it is ready: it goes on once the tree has begun. NAME unsignalled: at once
begun() {
	local how=$1 name=$2 input tracer target
	shift 2
	rm -rf in trace
	mkfifo in
	# shellcheck disable=SC2064
	(trap "$how" USR1; exec timeout 60 "$SPI_LTTNG" trace --tree=work --on-signal USR1 --lib ignoring -o trace "$@") \
		<in >traced.out 2>trace.err &
	tracer=$!
	exec {input}>in
	spi_wait 20 file_has traced.out ready || diag "$(tail -n 3 trace.err)"
	target=$(pgrep -x ignoring | head -n 1)
	if [ "$name" != unsignalled ]; then
		kill -USR1 "$target"
		spi_wait 20 eval "! python3 $SPI_TOP_SRCDIR/tests/lib/text-equal.py $target" || diag "the tree does not begin"
	fi
	echo go >&"$input"
	exec {input}>&-
	wait "$tracer"
	is $? 0 "$name: status" || diag "$(tail -n 3 trace.err)"
	grep -v '^Trace directory' traced.out >seen.out
	same_file seen.out plain.out "$name: it sees the signal as untraced, and so do the programs that it executes"
}

usual ''
begun '' ignored ./ignoring
tree_balanced "$SPI_TMP/trace" 'ignored: balanced' --counts counts
is "$(awk '{ n += $1 } END { print n + 0 }' counts)" 10 'ignored: the tree has begun' || diag "$(head -n 5 counts)"
usual -
begun - 'the default' ./ignoring
usual '' signal
begun '' unsignalled ./ignoring signal
is "$(grep -c 'what it was: ignored' traced.out)" 1 "unsignalled: signal() tells what it was"
tap_done
