#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 150
#
# The live view's reader goes away: the trace ends with it, whatever kind of trace it is, also where no event comes that
# the view would have to print, and where the reader ends within a line. A program that is attached to goes on, as it was;
# one that was started keeps its own output and status, and goes on without the trace.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
export TMPDIR=$PWD/tmp && mkdir tmp
cat >ticker.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noipa)) int tick(int n) { return n + 1; }
__attribute__((noipa)) int never(int n) { return n - 1; }
int main(int argc, char **argv)
{
	int n = 0, most = argc > 1 ? atoi(argv[1]) : 1 << 30;

	dprintf(2, "begun\n");
	while (n < most) {
		n = tick(n);
		if (argc > 2 && access(argv[2], F_OK) == 0)
			return 7;
		if (argc > 3)
			printf("%d\n", n), fflush(stdout);
		usleep(2000);
	}
	return never(n) < 0;
}
C
spi_cc ticker "$PWD/ticker.c"
sessions() { lttng --no-sessiond list 2>/dev/null | grep -cE '^ *[0-9]+\)'; }
nothing_left() {
	is "$(ps -C lttng-relayd,babeltrace2 --no-headers | wc -l)/$(ls tmp)/$(sessions)" "0//0" "$1: no daemon, file or session is left"
}
spi_text_equal() { python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target"; }

# reader NAME READER ARGS... - `lttng trace ARGS | READER`, which ends by itself; it has 20 s
reader() {
	local name=$1 reader=$2 status limit began=$SECONDS
	shift 2
	limit=$(spi_scaled 20)
	timeout -k 1 "$limit" "$SPI_LTTNG" trace "$@" 2>trace.err | { eval "$reader" >read.out; echo "$SECONDS" >gone; }
	status=${PIPESTATUS[0]}
	if [ "$status" = 124 ] && [ "$(($(cat gone) - began))" -ge "$((limit - 1))" ]; then
		skip "$name: the trace ends" "its reader was there still, as the view had not shown it enough"
	else
		is "$status" 0 "$name: the trace ends" || diag "$(cat trace.err)"
	fi
	unlike "$(cat trace.err)" 'babeltrace2|Broken pipe|CAUSED|executed another program' "$name: nothing is said of the view"
	like "$(cat trace.err)" 'Session .* destroyed' "$name: in good order"
}

./ticker 2>target.err &
target=$!
spi_wait 10 file_has target.err begun
reader "lines" 'head -n 3' -f tick -p "$target"
is "$(grep -c ' spi:tick_' read.out)" 3 "lines: the reader has them"
check "lines: the program's code is its file's" spi_text_equal
reader "within a line" 'dd bs=7 count=5 status=none' -f tick -p "$target"
is "$(wc -c <read.out)" 35 "within a line: what the reader took"
# Nothing to print: the reader ends when the rule is in force.
reader "no events" 'spi_wait 20 file_has trace.err "^Trace directory"' -f never -p "$target"
reader "a tree's" 'head -c 300' --tree=tick -p "$target"
reader "compact, with names" 'head -n 1' --tree=tick --compact -p "$target"
check "and its code is its file's at the end" spi_text_equal
kill -0 "$target"
ok $? "the program goes on"
finish "$target"
nothing_left "attached"

# A program that was started: it has the same stdout, writes nothing there, and learns of nothing.
rm -f trace.err
{
	timeout -k 1 $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f tick ./ticker 1000000 stop 2>trace.err
	echo "$?" >status
} | head -n 2 >read.out &
spi_wait 20 file_has trace.err '^Session .* destroyed'
ok $? "started: the session ends with the reader" || diag "$(cat trace.err)"
is "$(grep -c ' spi:tick_' read.out)" 2 "started: the reader has its lines" || diag "$(cat trace.err read.out)"
[ ! -e status ] && pgrep -x ticker >/dev/null
ok $? "started: the program goes on"
nothing_left "started"
: >stop
spi_wait 20 file_has status .
is "$(cat status)" 7 "started: its status is ours"
is "$(grep -c '^Session .* destroyed' trace.err)/$(grep -c '^Events recorded' trace.err)" 1/1 "started: the summary is said once"

# One that writes to that pipe ends of it, as it does untraced.
timeout -k 1 $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f tick ./ticker 10000 none print 2>trace.err | head -n 1 >read.out
is "${PIPESTATUS[0]}" 141 "a program that writes there ends by SIGPIPE" || diag "$(cat trace.err)"
nothing_left "ended by SIGPIPE"
tap_done
