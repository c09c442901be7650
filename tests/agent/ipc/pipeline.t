#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A pipeline of a shell's: each program's messages are those that strace sees, and each receive is of bytes that were sent.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"

pipeline='seq 1000 | sort -rn | head -n 100 | tail -n 1'
# messages DIR - lines "send|recv CHANNEL POSITION BYTES", in order
messages() {
	babeltrace2 "$1" | sed -nE 's/.*spi_ipc:(send|recv): .* channel = (0x[0-9A-F]*), position = ([0-9]*), .* result = ([0-9]*), .*/\1 \2 \3 \4/p'
}
# matched FILE - 0: there are receives, and each channel's go on where the last one ended, and as far as its sends do at most. (What
# this script says to a shell is sent by nobody who is traced.)
matched() {
	awk '$3 != at[$1 $2] + 0 { bad = 1 }
		{ at[$1 $2] += $4; n[$1]++ }
		$1 == "recv" { channel[$2] }
		END { for (c in channel) if (at["send" c] && at["recv" c] > at["send" c]) bad = 1; exit bad || !n["recv"] }' "$1"
}

broker_daemon
# The front end's session.
spi_trace_ok "a pipeline is traced" --tree --ipc -o trace sh -c "$pipeline"
is "$(cat trace.out)" 901 "it does what it does"
messages trace >seen
unlike "$(babeltrace2 trace | grep 'spi_ipc:[sr]' | grep -o 'flags = 0x[0-9A-F]*')" '[2-9A-F]$' "all positions are sure"
matched seen
ok $? "what is received was sent" || diag "$(cat seen)"
is "$("$SPI_TOP_BUILDDIR/reader/lttng-spi" calls trace | sed -nE 's/.* spi_ipc:(send|recv): ([0-9]+) bytes? at ([0-9]+), pipe pipe:.*/\1 \3 \2/p')" \
	"$(cut -d ' ' -f 1,3,4 seen)" "and each message is a line among the calls"
is "$("$SPI_TOP_BUILDDIR/reader/lttng-spi" flow --json trace | python3 -c '
import json, sys
f = json.load(sys.stdin)
print(*["%d:%s>%s" % (c["depth"], c["from"], c["to"]) for c in f["chains"]], f["counts"]["not_sent"], f["counts"]["ambiguous"])')" \
	"0:seq>sort 1:sort>head 2:head>tail 0 0" "who sent to whom, and because of what"
if command -v strace >/dev/null; then
	strace -ff -qq -yy -e trace=read,write -o calls sh -c "$pipeline" >/dev/null
	sed -nE 's/^(read|write)\([0-9]+<pipe:.* = ([1-9][0-9]*)$/\1 \2/p' calls.* | sed 's/read/recv/; s/write/send/' | sort >truth
	is "$(awk '{ print $1, $4 }' seen | sort)" "$(cat truth)" "the messages are those that strace sees"
else
	skip "no strace"
fi

# A session of the user's own, a shell that runs already.
mkfifo in
sh <in >shell.out 2>&1 &
exec 3>in
lttng_ok create own --output="$PWD/own"
check "a rule" "$SPI_LTTNG" enable-event --spi --tree --ipc=pipe --pid $!
lttng_ok start own
check "it is in force" spi_wait 10 status_like "^applied.$!.tree.*ipc=pipe.*active"
echo "$pipeline; exit" >&3
wait $!
is "$(cat shell.out)" 901 "under a rule it does the same"
lttng_ok destroy own
messages own >seen
ok "$(matched seen; echo $?)" "what is received was sent" || diag "$(cat seen)"
is "$(awk '{ print $1, $4 }' seen | grep -c send)" 3 "in the session that asked for it"
tap_done
