#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng trace --tree --ipc ./client`: a server that runs already and is not traced comes into the trace with the first message to it,
# over each kind of channel, and nothing but the trace tells.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_cc pair "$SPI_PROGRAMS/message-pair.c"
ip link set lo up

# serve KIND [fork|trap] - a server that is ready; its pid in $server
serve() {
	where=5555
	case $1 in unix* | seqpacket | fifo) where=$SPI_TMP/$1.socket ;; esac
	rm -f "$where" "$where.answer" server.out
	./"${program:-pair}" serve "$1" "$where" ${2:+"$2"} >server.out 2>&1 &
	server=$!
	spi_wait 10 file_has server.out ready
}

# across KIND [OPTION...] - the client, traced; its pid is the last but one to come
across() {
	local kind=$1
	shift
	rm -rf t
	timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace "$@" --ipc -o t ./pair ask "$kind" "$where" 20 >client.out 2>trace.err </dev/null
	status=$?
	client=$(babeltrace2 t 2>/dev/null | sed -n 's/.*spi_ipc:send:.*vpid = \([0-9]*\),.*/\1/p' | head -n 1)
}

for kind in tcp tcp6 unix seqpacket fifo udp unixgram; do
	serve $kind
	across $kind --tree
	is "$status $(cat client.out)" '0 400' "$kind: the client gets its answers" || diag "$(tail -n 5 trace.err)"
	wait "$server"
	is "$? $(cat server.out)" '0 ready' "$kind: the server ends as ever"
	is "$(python3 "$SPI_TOP_SRCDIR/tests/lib/across.py" t "${client:-0}" "$server" 2>&1)" ok \
		"$kind: the server is in the trace from the first message on" || diag "$(tail -n 5 trace.err)"
done
"$SPI_TOP_BUILDDIR/reader/lttng-spi" report t >report.txt 2>&1
grep -Eq '^ +2[0-9] .*answer_of' report.txt
ok $? 'with the calls that the messages make' || diag "$(grep -a pair report.txt | head -n 12)"

# Its read() that waits is not led back by SIGTRAP, and does not fail.
serve fifo trap
across fifo --tree
is "$status $(cat client.out)" '0 400' 'a server that has SIGTRAP interrupt its calls: the client gets its answers' || diag "$(tail -n 5 trace.err)"
wait "$server"
ok $? 'and none of its calls fails'

serve tcp fork
across tcp --tree
is "$status $(cat client.out)" '0 400' 'a server that forks: the client gets its answers' || diag "$(tail -n 5 trace.err)"
child=$(babeltrace2 t 2>/dev/null | sed -n 's/.*spi_ipc:recv:.*vpid = \([0-9]*\),.*/\1/p' | grep -vx "${client:-0}" | sort -u)
is "$(python3 "$SPI_TOP_SRCDIR/tests/lib/across.py" t "${client:-0}" "${child:-0}" 2>&1)" ok \
	'the child of the connection is in the trace, and the server that does nothing for it is not' || diag "$child" "$(tail -n 5 trace.err)"
wait "$server" 2>/dev/null

# The server is another program: it has no function ask().
spi_cc server "$SPI_PROGRAMS/message-pair.c" -Dask=inquire
program=server serve tcp
across tcp --tree=ask
is "$status $(cat client.out)" '0 400' 'a root: the client gets its answers' || diag "$(tail -n 5 trace.err)"
wait "$server"
is "$(python3 "$SPI_TOP_SRCDIR/tests/lib/across.py" t "${client:-0}" "$server" 2>&1)" ok \
	'a server without a function of that name is traced from the message on'
is "$("$SPI_TOP_BUILDDIR/reader/lttng-spi" report --process server --format csv t 2>&1 | sed -n 's/^.*answer_of.*,\(20\),.*$/\1/p;s/^\(20\),.*answer_of.*/\1/p' | head -n 1)" 20 \
	'with all its calls' || diag "$("$SPI_TOP_BUILDDIR/reader/lttng-spi" report --process server --format csv t 2>&1 | head -n 5)"

# A server that stands still: the client waits a second, and goes on. The server answers later.
serve tcp
kill -STOP "$server"
(timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace --tree --ipc -o stopped ./pair ask tcp "$where" 3 >client.out 2>trace.err </dev/null) &
tracer=$!
spi_wait 20 eval '[ "$(ss -Htn state established "( sport = :5555 )" | awk "{ n += \$1 } END { print n + 0 }")" = 16 ]'
ok $? 'a server that is stopped: the message goes out all the same'
kill -CONT "$server"
wait "$tracer"
is "$? $(cat client.out)" '0 9' 'and the client gets its answers' || diag "$(tail -n 5 trace.err)"
wait "$server"
babeltrace2 stopped 2>/dev/null | grep 'spi_ipc:peer:' | grep -q "pid = $server, .*status = -"
ok $? 'the trace says that the server was not in' || diag "$(babeltrace2 stopped | grep spi_ipc: | head -n 5)"

# A server that cannot be brought in says why.
spi_cc fixed "$SPI_PROGRAMS/message-pair.c" -static
program=fixed serve tcp
across tcp --tree
is "$status $(cat client.out)" '0 400' 'a static server: the client gets its answers' || diag "$(tail -n 5 trace.err)"
wait "$server"
babeltrace2 t 2>/dev/null | grep 'spi_ipc:peer:' | grep -q "pid = $server, .*status = -.*statically linked"
ok $? 'the trace says why it is not in' || diag "$(babeltrace2 t | grep spi_ipc:peer)"

# What lttng trace itself writes to is the user's.
"$SPI_LTTNG" trace --tree --ipc -o piped2 sh -c 'seq 100 | wc -l' 2>piped.err | cat >piped.out
is "$(cat piped.out)" 100 'a pipeline within a pipeline'
is "$(babeltrace2 piped2 2>/dev/null | grep -c 'spi_ipc:peer:.*status = [01]')" 1 'a pipe that lttng trace writes to is not followed' ||
	diag "$(babeltrace2 piped2 | grep spi_ipc:)"

# What it was that traced goes in the middle: nobody says that nothing was traced.
mkfifo hold
for what in broker session; do
	rm -f client.out
	(timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace --tree --ipc -o "$what" sh -c 'echo begun; read -r line <hold; exit 3' >client.out 2>trace.err </dev/null) &
	tracer=$!
	spi_wait 20 file_has client.out begun
	if [ $what = broker ]; then
		kill -KILL "$(pgrep -ox spi-broker)"
	else
		command lttng destroy --all >/dev/null
	fi
	echo >hold
	wait "$tracer"
	is "$? $(cat client.out)" '3 begun' "the $what goes: the program ends as ever"
	case $what in broker) why='(has started its broker again|does not say what it traced)' ;; session) why='was destroyed by somebody else' ;; esac
	grep -Eq "^Note: the session.* $why" trace.err && ! grep -q 'nothing was' trace.err
	ok $? 'with the reason' || diag "$(tail -n 5 trace.err)"
done
tap_done
