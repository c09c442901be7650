#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A forked child begins with its first call that is recorded: before that it has one thread, and what it does is as untraced, to its end or to
# another program. Whichever thread makes that call, all are recorded with their own ids. Where the trace is over by then, the child has
# its own code back.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_cc child-begins child-begins.c -O1

# began MODE EVENTS - traced by work()'s name: output and status as untraced, so many calls
began() {
	rm -rf t t.txt
	./child-begins "$1" >plain.out
	timeout -k 5 $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f work -o t ./child-begins "$1" >traced.out 2>traced.err
	is $? 0 "$1: its status"
	same_file traced.out plain.out "$1: its output"
	is "$(spi_count t work_entry) $(spi_count t work_exit)" "$2 $2" "$1: its calls"
}
ids() { grep -ao 'work_entry: .*vpid = [0-9]*, vtid = [0-9]*' t.txt | sed 's/.*vpid = //; s/, vtid = / /'; }

began alone 2
is "$(ids | sort -u | wc -l) $(ids | awk '$1 != $2' | wc -l)" '2 0' 'alone: each by its own process'
began never 1
began executes 1
began thread 3
is "$(ids | awk '{ pids[$1]; ids[$0] } END { print length(pids), length(ids) }')" '2 3' 'thread: each by its own thread'
is "$(ids | tail -n 1 | awk '{ print $1 == $2 }')" 1 'thread: the last one by the first thread'
began child 2
began stack 3
is "$(grep -ao 'statedump:procname: .*procname = "[^"]*"' t.txt | sed 's/.* = //' | sort | uniq -c | sed 's/ *//')" '2 "child-begins"' \
	"stack: begun by the agent's thread, the child has its own name"
unlike "$(cat traced.err)" 'Lost calls' 'stack: the one within the handler is recorded, too'

# The trace ends while a child waits.
rm -rf t traced.err
same_text() { python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$1" child-begins >text.out 2>&1; }
mkfifo in
./child-begins daemon <in >daemon.out &
target=$!
exec {to}>in
spi_wait 10 file_has daemon.out main
"$SPI_LTTNG" trace -f work -p "$target" -o t 2>traced.err {to}>&- &
tracer=$!
spi_wait 20 file_has traced.err 'Trace directory'
printf x >&"$to"
spi_wait 10 file_has daemon.out pid
kill -INT "$tracer"
wait "$tracer"
is $? 0 "late: traced" || diag "$(tail -n 3 traced.err)"
child=$(sed -n 's/^pid //p' daemon.out)
is "$(ls "/proc/$child/task" | wc -l)" 1 "late: the child has not begun"
echo >&"$to"
spi_wait 10 file_has daemon.out '^1$'
ok $? "late: the child goes on"
spi_wait 10 same_text "$child"
ok $? "late: with its own code" || diag "$(tail -n 3 text.out)"
exec {to}>&-
wait "$target"
like "$(cat daemon.out)" 'status 700' "late: and ends as it would"
tap_done
