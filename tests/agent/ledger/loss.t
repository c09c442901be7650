#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Buffers too small for what happens: LTTng reports the loss, the agent counts
# it, and no exit stands without its entry. The session is made with stock lttng:
# two sub-buffers of 4 KiB.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c

quiet() { "$@" >/dev/null 2>>lttng.log; }
quiet lttng create s -o "$PWD/t"
quiet lttng enable-channel -u c --subbuf-size 4096 --num-subbuf 2 --discard
quiet lttng add-context -u -c c -t vpid -t vtid
quiet lttng enable-event -u -c c 'spi:*'
quiet lttng start
coproc CONTROL { python3 "$SPI_TOP_SRCDIR/tests/lib/controller.py" ./zoo threads 100000 4 2>control.err; }
exec {to}>&"${CONTROL[1]}" {from}<&"${CONTROL[0]}"
ask() { echo "$*" >&"$to"; read -r -t 60 -u "$from" answer; }
ask add 1 't_*'
like "$answer" '^rule 1 0' "the rule" || diag "$(cat control.err)"
ask go
spi_wait 60 file_has target.out 'count t_worker|count t_leaf'
ask end
is "$(head -n 1 target.out)" "wrong values 0" "the program's values"
ask status
diag "$answer"
counters=$answer
quiet lttng stop
quiet lttng destroy
spi_read t
reported=$(events lost t.warn)
[ "$reported" -gt 0 ]
ok $? "LTTng reports the loss"
like "$counters" 'lost_entries [1-9]' "the agent counts it"
# The last exits of a thread may find no room, and there is no later event of it before which to write them.
owed=$(sed 's/.*lost_exits \([0-9]*\).*/\1/' <<<"$counters")
[ "$owed" -le 10 ]
ok $? "no more than the last exits of each thread are lost: $owed"
balanced=$(events balance t.txt --lossy --open "$owed")
ok $? "no exit without entry, innermost first" || diag "$balanced"
like "$balanced" " open $owed " "every other entry has its exit"
diag "$balanced, reported lost $reported"
tap_done
