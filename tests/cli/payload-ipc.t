#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng trace --payload --tree --ipc`: a server that runs already has the payload from the first message to it on, whatever the
# channel. Nothing but the payload tells, and the end of the command takes it out again.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc pair message-pair.c
spi_cc fixed message-pair.c -static
payload_cc says.so payload-says.c
ip link set lo up

# serve KIND [fork] - a server that is ready; its pid in $server
serve() {
	where=5555
	case $1 in unix | fifo) where=$SPI_TMP/$1.socket ;; esac
	rm -f "$where" "$where.answer" server.out
	"./${program:-pair}" serve "$1" "$where" ${2:+"$2"} >server.out 2>&1 &
	server=$!
	spi_wait 10 file_has server.out ready
}

# across PAYLOAD COMMAND... - COMMAND, with the payload; what that says is in ./said
across() {
	local payload=$1
	shift
	timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace --payload "$payload" "${options[@]}" --ipc --ipc-wait 10 "$@" >client.out 2>said </dev/null
	status=$?
}
options=(--tree --lib 'pair*')

# table PID - the counts of that process
table() { awk -v head="count of [^ ]* \\\\($1\\\\):" '/^count of/ { is = $0 ~ head; next } !/^ / { is = 0 } is { print $1, $2 }' said; }

for kind in tcp unix fifo; do
	serve $kind
	across ./says.so ./pair ask $kind "$where" 3
	is "$status $(cat client.out)" '0 9' "$kind: the client gets its answers" || diag "$(cat said)"
	wait "$server"
	is "$? $(cat server.out)" '0 ready' "$kind: the server ends as ever"
	is "$(sed -n 's/(\([0-9]*\)) from.*/ \1/; s/handle [0-9]*$/handle/; s/ not its own//; /answer_of\|handle/p; /leave answer_of = 5/q' said | tr '\n' ' ')" \
		'enter answer_of 0 leave answer_of = 1 enter handle enter answer_of 1 leave answer_of = 3 leave handle = 1 enter handle enter answer_of 2 leave answer_of = 5 ' \
		"$kind: the server's payload has each call from the first receive on, and none before" || diag "$(cat said)"
done

serve tcp fork
across count ./pair ask tcp 5555 20
is "$status $(cat client.out)" '0 400' 'a server that forks: the client gets its answers' || diag "$(cat said)"
wait "$server" 2>/dev/null
is "$(table "$server")" '' 'a server that forks does nothing for the client itself'
is "$(grep -c '^count of' said) $(grep -c '  20  answer_of' said)" '2 1' 'and its child is counted' || diag "$(cat said)"

# A server that runs on has the payload no longer than the command runs.
serve tcp
across count ./pair ask tcp 5555 20 stay
is "$status $(cat client.out)" '0 400' 'a server that stays: the client gets its answers' || diag "$(cat said)"
check 'its table is printed as the command ends' grep -qx '20 answer_of' <(table "$server") || diag "$(cat said)"
check 'and what was instrumented there is as it was' python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$server" pair

# -p: the server asks, with its first answer.
timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace --payload count "${options[@]}" --ipc -p "$server" >said 2>&1 </dev/null &
tracer=$!
spi_wait 20 eval '! python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$server" pair >/dev/null 2>&1'
is "$(./pair ask tcp 5555 20)" 400 '-p: the client gets its answers'
wait "$server"
is $? 0 '-p: the server ends as ever'
wait "$tracer"
check '-p: the client has the payload from the first answer on' grep -qE ' (19|20) +ask' said || diag "$(cat said)"

# A forked child that does nothing but send.
serve fifo
across count sh -c "(printf '%-15d\\n' 1) >'$where'; read -r answer <'$where.answer'; echo \$answer; printf 'end            \\n' >'$where'"
is "$status $(cat client.out)" '0 3' 'a forked child asks: its answer' || diag "$(cat said)"
wait "$server"
check 'and the server has the payload' grep -qx '1 answer_of' <(table "$server") || diag "$(cat said)"

program=fixed serve tcp
across count ./pair ask tcp 5555 20
is "$status $(cat client.out)" '0 400' 'a static server: the client gets its answers'
like "$(cat said)" "fixed \($server\) runs without: .*statically linked" 'and the server is named with the reason'
is "$(grep -c "fixed ($server)" said)" 1 'once' || diag "$(cat said)"
wait "$server"

serve tcp
LTTNG_SPI_IPC_NEVER='pa*' across count ./pair ask tcp 5555 20
like "$status $(cat client.out said)" "^0 400.*pair \($server\) runs without: it is one of the programs that messages never bring in" \
	'what LTTNG_SPI_IPC_NEVER names is left alone, and named' || diag "$(cat said)"
wait "$server"

options=(--tree)
across count=3 sh -c 'seq 100 | sort | tail -n 1'
is "$status $(cat client.out)" '0 99' 'a pipeline: its output'
for name in seq sort tail; do
	is "$(grep -c "^count of $name (" said)" 1 "a pipeline: $name has the payload once" || diag "$(cat said)"
done
"$SPI_LTTNG" trace --payload count --tree --ipc sh -c 'seq 100' 2>said | cat >client.out
is "$(tail -n 1 client.out) $(grep -c '^count of cat' said)" '100 0' 'a pipe that lttng trace writes to is not followed' || diag "$(cat said)"

serve tcp
options=(--tree --lib pair -o t)
across count ./pair ask tcp 5555 20
is "$status $(cat client.out)" '0 400' 'with -o DIR: the client gets its answers' || diag "$(cat said)"
wait "$server"
check 'with -o DIR: the payload has the calls of the server' grep -qx '20 answer_of' <(table "$server") || diag "$(cat said)"
# the last one, to which there is no answer, may come as the trace ends
like "$(babeltrace2 t 2>/dev/null | grep "vpid = $server," | grep -c 'spi_ipc:recv:')" '^2[01]$' 'and the trace has its messages'
is "$("$SPI_TOP_BUILDDIR/reader/lttng-spi" report --format csv t 2>&1 | grep -c 'answer_of.*,20,\|^20,.*answer_of')" 1 'and calls'

# --exec: whoever runs by the name asks.
cp pair pair2
serve tcp
options=(--tree --lib 'pair*' --exec pair2)
timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace --payload count "${options[@]}" --ipc >said 2>&1 </dev/null &
tracer=$!
spi_wait 20 file_has said 'get the payload until'
./pair2 ask tcp 5555 20 >client.out
wait "$server"
is "$(cat client.out)" 400 '--exec: the client gets its answers'
spi_wait 20 file_has said 'count of pair2' && spi_wait 20 file_has said 'answer_of'
kill -INT "$(pgrep -P "$tracer")"
wait "$tracer"
check '--exec: the server has the payload as well' grep -qx '20 answer_of' <(table "$server") || diag "$(cat said)"

# A payload's own wish, and a worker of its own that knows processes by their numbers.
payload_cc channels.so payload-channels.c
serve tcp
timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace --payload ./channels.so --payload-arg ipc=1 --tree ./pair ask tcp 5555 3 >client.out 2>said </dev/null
is "$? $(cat client.out) $(grep -c '^moved [1-9][0-9]* [1-9]' said)" '0 9 2' 'without --ipc, where the payload asks for that itself' || diag "$(cat said)"
wait "$server"
spi_cc file-messages file-messages.c
sed 's/channel->inode = .*/channel->peers[0] = reader;/; s/^static const char \*path;/&\nstatic int reader;/; s/^\tspi_agent_enable_ipc.*/&\n\treader = __builtin_atoi(spi_agent_argument(agent, "reader"));/
	s/__builtin_atoi/atoi/; s/^#include <string.h>/&\n#include <stdlib.h>/' "$SPI_TOP_SRCDIR/doc/examples/file-channel.c" >numbers.c
(cd "$SPI_TMP" && SPI_PROGRAMS=. payload_cc numbers.so numbers.c)
options=(--tree --payload-arg "file=$PWD/messages")
./file-messages write messages 1
./file-messages read messages 4 >read.out &
reader=$!
spi_wait 10 file_has read.out message
across ./numbers.so --payload-arg "reader=$reader" ./file-messages write messages 3 over &
tracer=$!
wait "$reader"
touch over
wait "$tracer"
is "$(sed -n "s/^.$reader. main -> \(handle\)$/\1/p" said | wc -l)" 3 'a process that a worker names by its number has the payload from the message on' || diag "$(cat said)"

if [ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ]; then
	options=(--tree --lib 'pair*')
	chmod 755 "$SPI_TMP"
	mkdir home-1 && chown 1 home-1
	(cd / && exec setpriv --reuid 2 --regid 2 --clear-groups "$SPI_TMP/pair" serve tcp 5556) >server.out 2>&1 &
	server=$!
	spi_wait 10 file_has server.out ready
	setpriv --reuid 1 --regid 1 --clear-groups env HOME="$SPI_TMP/home-1" XDG_CACHE_HOME="$SPI_TMP/home-1" timeout $((60 * SPI_PATIENCE)) \
		"$SPI_LTTNG" trace --payload count --tree --lib pair --ipc ./pair ask tcp 5556 20 stay >client.out 2>said </dev/null
	is "$(cat client.out) $(grep -c '^count of' said)" '400 1' "a user's payload comes into no other user's process" || diag "$(cat said)"
	like "$(cat said)" "a message was not followed" 'and that is said'
	timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace --payload ./channels.so --payload-arg ipc=1 --tree ./pair ask tcp 5556 3 stay >client.out 2>said </dev/null
	like "$(cat client.out said)" "^9.*pair \($server\) runs without: .*give --ipc" "nor does root's by its own wish" || diag "$(cat said)"
	across count ./pair ask tcp 5556 20
	check "root's does with --ipc" grep -qx '20 answer_of' <(table "$server") || diag "$(cat said)"
	wait "$server"
else
	diag 'other users: not root'
fi
left() { pgrep -P 1 spi-codemap || pgrep '^lttng$'; }
spi_wait 10 eval '! left >/dev/null'
is "$(left)" '' 'no process is left' || diag "$(ps ax)"
tap_done
