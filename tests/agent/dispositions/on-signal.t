#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# A tree that begins at a signal: what the program sees of the signal, and that the tree begins. Where the program ignores
# the signal the tree is refused.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc ignoring ignoring.c -O1 -fno-optimize-sibling-calls
./ignoring <<<go >plain.out

mkfifo in
timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace --tree=work --on-signal USR1 --lib ignoring -o trace ./ignoring <in >traced.out 2>trace.err &
tracer=$!
exec {input}>in
spi_wait 20 file_has traced.out ready || diag "$(tail -n 3 trace.err)"
target=$(pgrep -x ignoring | head -n 1)
kill -USR1 "$target"
spi_wait 20 eval "! python3 $SPI_TOP_SRCDIR/tests/lib/text-equal.py $target" || diag "the tree does not begin"
echo go >&"$input"
exec {input}>&-
wait "$tracer"
is $? 0 'status' || diag "$(tail -n 3 trace.err)"
grep -v '^Trace directory' traced.out >seen.out
same_file seen.out plain.out 'it sees the signal as untraced, and so do the programs that it executes'
tree_balanced "$SPI_TMP/trace" 'balanced' --counts counts
is "$(awk '{ n += $1 } END { print n + 0 }' counts)" 10 'the tree has begun' || diag "$(head -n 5 counts)"

(trap '' USR1; exec timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace --tree=work --on-signal USR1 -o refused ./ignoring <<<go >refused.out 2>refused.err)
diag "status $?"
check 'ignored: the tree is refused with the reason' file_has refused.err 'the program ignores signal 10' || diag "$(cat refused.err)"
tap_done
