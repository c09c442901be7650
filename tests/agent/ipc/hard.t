#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Messages of threads at the same time, of calls that are left, of handlers, and calls that fail: the program sees no difference,
# and no position is told as sure that is not.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
spi_cc hard messages-hard.c

# run WHAT - the program without and with; ./messages has a line "EVENT POSITION RESULT FLAGS" for each of its pipe's messages
run() {
	rm -rf trace
	may_die timeout $((20 * SPI_PATIENCE)) ./hard "$1" >plain
	spi_trace --tree --ipc -o trace ./hard "$1" >traced
	ok $? "$1: it is traced" || diag "$(tail -n 5 trace.err)"
	same_file traced plain "$1: what the program says is the same"
	babeltrace2 trace | sed -n 's/.*spi_ipc:\(send\|recv\): .* position = \([0-9]*\), .* result = \([0-9]*\), .* flags = 0x\([0-9A-F]*\) .*/\1 \2 \3 \4/p' >messages
}

# tiles END - 0: the ranges of that end, in the order of their positions, follow each other without holes
tiles() { awk -v end="$1" '$1 == end { print $2, $3 }' messages | sort -n | awk '$1 != at { exit 1 } { at += $2 }'; }
flags() { awk -v end="$1" '$1 == end { print $4 }' messages | sort -u | xargs; }

run locked
is "$(flags recv) $(flags send)" "0 0 10" "one at a time: all positions are sure"
tiles send && tiles recv
ok $? "and follow each other"
run threads
is "$(flags recv)" 0 "at the same time: the one receiver is sure"
like "$(flags send)" '\b2\b' "the senders are not, and say so"
tiles send
ok $? "and have all bytes between them"
run left
is "$(cut -d ' ' -f 2- messages | xargs)" "0 7 10 0 7 0 7 7 0 7 7 0 14 7 0 14 7 0 21 7 0 21 7 0 28 7 0 28 7 0" \
	"calls that were left are no longer under way"
run handler
is "$(awk '$1 == "send"' messages | wc -l)" 2000 "a handler's messages are all there"
tiles send && tiles recv
ok $? "and follow each other"
is "$(flags recv) $(flags send)" "0 0 10" "and are sure"
run errors
is "$(xargs <messages)" "send 0 3 10 recv 0 3 0 send 0 10 10 send 10 5 0 recv 0 4 0 recv 10 5 0" \
	"calls that fail are no messages; what is cut off a packet counts"
run bad
is "$(cut -d ' ' -f 1,3,4 messages | xargs)" "send 50 11 send 0 1 recv 50 1 recv 0 1" "an empty datagram is a message, one from nowhere is not"
is "$(awk '$1 == "send" { print $2 }' messages | xargs)" "$(awk '$1 == "recv" { print $2 }' messages | xargs)" "and their hashes are the same at both ends"
tap_done
