#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# babeltrace2 gives a live session up now and then, or leaves it, before it has printed anything: all is printed at the end, from what our
# own relay daemon has written. Where the relay daemon is somebody else's, that it is not printed is said.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c
real=$(command -v babeltrace2)
mkdir bin tmp
export TMPDIR=$SPI_TMP/tmp
cat >bin/babeltrace2 <<S
#!/bin/sh
case "\$*" in *lttng-live*) : >$SPI_TMP/failed.\$\$; echo 'lttng-live.c:633: Assertion failed' >&2; exit \${LIVE_STATUS:-1};; esac
exec $real "\$@"
S
chmod +x bin/babeltrace2

traced() { PATH=$SPI_TMP/bin:$PATH "$SPI_LTTNG" trace "$@" >trace.out 2>trace.err; }
traced -f t_leaf ./zoo leaf 500
is "$?/$(grep -ac ' spi:t_leaf_entry: ' trace.out)/$(grep -ac ' spi:t_leaf_exit: ' trace.out)" 0/500/500 "all events are printed" ||
	diag "$(cat trace.err)"
is "$(ls failed.* | wc -l)" 1 "by another one, and the live one was begun once"
unlike "$(cat trace.err)" 'Assertion|babeltrace2' "nothing is said of that"
LIVE_STATUS=0 traced -f t_leaf ./zoo leaf 500
is "$?/$(grep -ac ' spi:t_leaf_entry: ' trace.out)/$(cat trace.err | grep -c babeltrace2)" 0/500/0 "the same where it leaves as if all was well" ||
	diag "$(cat trace.err)"
traced --tree --compact ./zoo leaf 50
is "$?/$(grep -ac 'func_entry:.*"t_leaf+0"' trace.out)" 0/50 "a compact tree's calls, too, by their names" || diag "$(cat trace.err; head -n 3 trace.out)"
is "$(ls tmp)" "" "no file is left"

lttng-relayd -d -o "$PWD/relay" >/dev/null 2>&1
relay=$(pgrep lttng-relayd)
traced -f t_leaf ./zoo leaf 10
isnt=$?
[ "$isnt" != 0 ]
ok $? "another's relay daemon: the status is not 0"
like "$(cat trace.err)" 'babeltrace2 failed: events may be missing' "which is said"
kill "$relay" && spi_wait 20 pid_gone "$relay"
tap_done
