#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng trace --exec NAME`: the front end's half, with a stock daemon and a status
# socket that is only played: which rules the session has, how it ends, and the
# summary that is made of the plugin's answer.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/rules.sh"
spi_private "$@"
spi_daemon

wrong 1 '--exec: the session daemon has no plugin.*spi-sessiond --attach' trace -f x --exec server -o t
check "nothing was made" [ ! -e t ]
wrong 1 '\*: means functions of every program' trace -f '*' --exec '*' -o t
wrong 2 'neither a COMMAND' trace -f x --exec server true
wrong 2 'neither a COMMAND' trace -f x --exec server -p 1
wrong 2 '--exec: /bin/ls is not a file name' trace -f x --exec /bin/ls
wrong 2 '--string-max does not go' trace -f x --exec ls --string-max 20
is "$(lttng list | grep -c trace-)" 0 "no session is left"

cat >server.py <<'EOF_SERVER'
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
s.bind(sys.argv[1])
s.listen(8)
print("ready", flush=True)
while True:
    c, _ = s.accept()
    try:
        c.sendall(open("answer", "rb").read())
    except OSError:
        pass
    c.close()
EOF_SERVER
printf 'version\t1\nlacked\t0\tserver\t1\t9\tfunction\tserver:parse_old\t1\ttoo short\nend\n' >answer
background python3 server.py /run/lttng/spi-status

"$SPI_LTTNG" trace -f 'parse_*' -f libz.so.1:inflate --exec server --exec 'cl*' -o t 2>err &
tracer=$!
spi_wait 20 file_has err 'Trace directory' || diag "$(cat err)"
session=$(lttng list | grep -o 'trace-server-[0-9-]*')
rules "$session"
is "$(grep -c 'spi:call(parse_.*exec=cl%2a;exec=server)	true' rules)" 1 "the request"
is "$(grep -c 'spi:call(libz.so.1:inflate;.*)	true' rules)" 1 "the other request"
is "$(grep -c 'spi:.*_\(entry\|exit\)	true	.*spi:rules' rules)" 4 "what records"
is "$(cut -f 2 rules | grep -c '^spi:[a-z]')" 2 "no plain name, which would ask for all processes"
like "$(lttng list "$session")" 'Active|active' "it records"

# The tag of the first request, as the filter beside it has it; one more process has other rules only.
tag=$(grep 'spi:\*parse_' rules | grep -o '[0-9a-f]\{8\}' | head -n 1)
{
	printf 'version\t1\n'
	printf 'process\t20\t0\ttraced\tserver\t\nprocess\t21\t0\ttraced\tclient\t\nprocess\t22\t0\ttraced\tother\t\n'
	printf 'process\t23\t0\trefused\tclean\tstatically linked\nprocess\t24\t0\trefused\tmore\tsetuid\n'
	printf 'session\t%s\t5\nsession\tanother\t7\n' "$session"
	printf 'lacked\t0\tserver\t1\t9\tfunction\tserver:parse_old\t1\ttoo short\n'
	printf 'lacked\t0\tserver\t3\t19\tfunction\tserver:parse_new\t2\ttoo short\n'
	printf 'lacked\t0\tserver\t1\t18\trule\tcall(parse_*;tag=%s)\t1\tno loaded function matches\n' "$tag" 00000000
	printf 'lacked\t0\tother\t1\t17\tprocess\t\t1\tstatically linked\n'
	printf 'note\tfuture processes of --exec are looked for every second\n'
	for pid in 20 21; do printf 'applied\t%d\tcall(parse_*;tag=%s)\tactive\t4\t3\t1\t\n' "$pid" "$tag"; done
	printf 'applied\t22\tcall(parse_*;tag=00000000)\tactive\t7\t7\t0\t\n'
	printf 'declined\t20\tserver\tparse_tiny\ttoo short\ndeclined\t22\tother\tparse_other\ttoo short\n'
	printf 'end\n'
} >answer
kill -INT "$tracer"
wait "$tracer"
is $? 0 "^C: status"
like "$(cat err)" 'Processes traced: 7, at the end: 2; events lost: 0' "the summary: processes"
like "$(cat err)" 'Functions instrumented at the end: 6; not instrumented: 1' "the summary: functions"
like "$(cat err)" 'Processes not recorded: 1.  clean \(23\): statically linked' "the summary: one that could not be traced"
unlike "$(cat err)" 'setuid' "the summary: none of another name"
is "$(grep -c 'Note: server (uid 0), ' err)" 2 "and what those lacked that have ended meanwhile"
like "$(cat err)" 'server \(uid 0\), 3 processes, the last of them 19: function server:parse_new and 1 more: too short' "a function"
like "$(cat err)" "server \(uid 0\), process 18: rule call\(parse_\*;tag=$tag\): no loaded" "a rule of ours"
like "$(cat err)" 'Note: future processes of --exec are looked for every second' "the summary: what the plugin remarks"
is "$(cat t/not-instrumented.txt)" $'server:parse_tiny\ttoo short' "what is not instrumented, and why"
is "$(lttng list | grep -c trace-)" 0 "no session is left at the end"

# What the plugin knows of the session's rules is played from its name: it has looked for processes, and there is none.
rm -f err
"$SPI_LTTNG" trace -f x --exec server --duration 0.3 -o u 2>err &
tracer=$!
spi_wait 20 file_has err 'Trace directory' || diag "$(cat err)"
session=$(lttng list | grep -o 'trace-server-[0-9-]*')
rules "$session"
cut -f 2 rules | awk -v session="$session" 'BEGIN { print "version\t1" } { print "rule\t" session "\tspi\t" $0 "\tenabled\t0\tinstruments\t\t" } END { print "end" }' >answer
wait "$tracer"
is $? 1 "--duration: nothing was instrumented" || diag "$(cat err)"
like "$(cat err)" 'Error: nothing was instrumented' "which is said"
rm -f err
"$SPI_LTTNG" trace -f x --exec server -o v 2>err &
tracer=$!
spi_wait 20 file_has err 'Trace directory'
kill -TERM "$tracer"
wait "$tracer"
is $? 143 "TERM ends it by that signal"
is "$(lttng list | grep -c trace-)" 0 "and leaves nothing"
finish "$target"
tap_done
