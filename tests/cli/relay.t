#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The live view and its relay daemon: one that runs is used and left alone, a
# stranger on the port is told from one, our own is ended with its files; every
# event is printed, however slow or fast the reader; a reader that goes away ends
# nothing but the view.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c
export TMPDIR=$PWD/tmp && mkdir tmp

nothing_left() {
	is "$(ps -C lttng-relayd,babeltrace2 --no-headers | wc -l)/$(ls tmp)/$(lttng list 2>/dev/null | grep -cE '^ *[0-9]+\)')" "${2:-0}//0" \
		"$1: no daemon, file or session is left"
}

for i in 1 2 3 4 5; do
	spi_trace -f t_leaf ./zoo leaf 2000 >trace.out
	is "$?/$(grep -ac ' spi:t_leaf_entry: ' trace.out)/$(grep -ac ' spi:t_leaf_exit: ' trace.out)" 0/2000/2000 \
		"run $i: all events printed" || diag "$(cat trace.err)"
done
nothing_left "own relay daemon"
spi_trace -f t_leaf ./zoo leaf 0 >trace.out
is "$?/$(grep -ac ' spi:' trace.out)" 0/0 "no event at all"
nothing_left "no event"

# A slow reader: all there.
spi_trace -f t_leaf ./zoo leaf 20000 | { read -r -t 2 -u 9 _ 9<>"$SPI_TMP/.idle"; grep -ac ' spi:t_leaf_entry: '; } >count
is "$(cat count)" 20000 "a slow reader gets everything"
# A reader that goes away: COMMAND runs on to its own end.
spi_trace -f t_leaf ./zoo leaf 20000 | head -n 1 >/dev/null
is "${PIPESTATUS[0]}" 0 "a reader that goes away: the command's status"
nothing_left "a reader that goes away"
(trap '' PIPE; spi_trace -f t_leaf ./zoo leaf 20000 | head -n 1 >/dev/null; exit "${PIPESTATUS[0]}")
is "$?/$(grep -c '^ *Events recorded: 40000 ' trace.err)" 0/1 "a reader that goes away, SIGPIPE ignored: the command's status"
unlike "$(cat trace.err)" 'babeltrace2|Broken pipe|CAUSED' "a reader that goes away, SIGPIPE ignored: no error of the view's"
(trap '' PIPE; spi_trace --tree=t_leaf ./zoo leaf 20000 | head -n 1 >/dev/null; exit "${PIPESTATUS[0]}")
is "$?" 0 "a reader that goes away, SIGPIPE ignored, a tree's" || diag "$(cat trace.err)"
nothing_left "a reader that goes away, SIGPIPE ignored"

# Where stdin is closed, as by some that start programs.
"$SPI_LTTNG" trace -f t_leaf ./zoo leaf 10 <&- >trace.out 2>trace.err
is "$?/$(grep -ac ' spi:t_leaf_entry: ' trace.out)" 0/10 "stdin closed: all events printed" || diag "$(cat trace.err)"
nothing_left "stdin closed"

# Something else has the port of relay daemons.
python3 -c '
import socket, sys
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", 5344)); s.listen(8); print("ready", flush=True)
while True:
    c, _ = s.accept(); c.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n" + b"x" * 100); c.close()
' >stranger.out &
stranger=$!
spi_wait 10 file_has stranger.out ready
spi_trace -f t_leaf ./zoo leaf 10 >trace.out
is "$?/$(grep -ac ' spi:t_leaf_entry: ' trace.out)" 0/10 "a stranger on port 5344" || diag "$(cat trace.err)"
kill "$stranger"
wait "$stranger" 2>/dev/null
nothing_left "a stranger on port 5344"

# A relay daemon that runs already.
mkdir relay
lttng-relayd -d -o "$PWD/relay" >/dev/null 2>&1
spi_trace -f t_leaf ./zoo leaf 10 >trace.out
is "$?/$(grep -ac ' spi:t_leaf_entry: ' trace.out)" 0/10 "the relay daemon that runs" || diag "$(cat trace.err)"
unlike "$(cat trace.err)" 'live port' "its port is the usual one"
[ -n "$(find relay -name metadata)" ]
ok $? "it has the trace"
nothing_left "the relay daemon that runs" 1
pkill_relay=$(pgrep lttng-relayd)
kill "$pkill_relay" && spi_wait 20 pid_gone "$pkill_relay"

# Two at the same time, each with its own.
"$SPI_LTTNG" trace -f t_leaf ./zoo leaf 500 >one.out 2>one.err &
one=$!
"$SPI_LTTNG" trace -f t_outer ./zoo exit >two.out 2>two.err
is $? 23 "two at once: the second's status"
wait "$one"
is "$?/$(grep -ac ' spi:t_leaf_entry: ' one.out)" 0/500 "two at once: the first's events" || diag "$(cat one.err)"
nothing_left "two at once"

# None can be started.
LTTNG_RELAYD_PATH=/nonexistent/relayd spi_trace -f t_leaf ./zoo leaf 10 >trace.out
is "$?/$(cat trace.out)" 1/ "no relay daemon: nothing started"
is "$(wc -l <trace.err)" 1 "no relay daemon: one line" || diag "$(cat trace.err)"
nothing_left "no relay daemon"
TMPDIR=/nonexistent spi_trace -f t_leaf ./zoo leaf 10 >trace.out
is "$?/$(cat trace.out)" 1/ "no temporary directory: nothing started"
nothing_left "no temporary directory"
PATH=/nonexistent LTTNG_RELAYD_PATH=$(command -v lttng-relayd) "$SPI_LTTNG" trace -f t_leaf "$PWD/zoo" leaf 10 >trace.out 2>trace.err
is "$?/$(cat trace.out)" 1/ "no babeltrace2: nothing started"
like "$(cat trace.err)" 'babeltrace2' "no babeltrace2: said"
nothing_left "no babeltrace2"
tap_done
