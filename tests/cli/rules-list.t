#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng list --spi`: what a plugin's status socket says, as text and as XML, and
# what comes of a socket that is not there, breaks off, is of another version, or
# sends what a terminal would obey.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/rules.sh"
spi_private "$@"

wrong 1 'no session daemon with the plugin is running: .*spi-sessiond --attach' list --spi

cat >server.py <<'EOF_SERVER'
import os, socket, sys
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
background python3 server.py /run/lttng/spi-status

{
	printf 'version\t1\n'
	printf 'daemon\t4711\tattached\t2.13.9\n'
	printf 'rule\tone\tchannel0\tspi:parse_*\tenabled\t1000\tinstruments\t\n'
	printf 'rule\tone\tchannel0\tspi:call(libz.so.1:in%%2a;exec=server)\tdisabled\t0\tinstruments\t\n'
	printf 'rule\tone\tbig\tspi:*\tenabled\t0\trecords\t\n'
	printf 'rule\ttrigger t\t\tspi:parse_entry\tenabled\t0\tinstruments\t\n'
	printf 'later\ta kind that nobody knows yet\n'
	printf 'note\tproc connector: not allowed\n'
	printf 'process\t20\t1000\ttraced\tserver\t\n'
	printf 'process\t30\t0\trefused\tpasswd\tsetuid\n'
	printf 'applied\t20\tparse_*\tactive\t25\t3\t22\t\n'
	printf 'counts\t20\t10\t8\t2\t1\t1\t3\t22\n'
	for i in $(seq 22); do printf 'declined\t20\tserver\tparse_%d\ttoo short\n' "$i"; done
	printf 'message\t20\tan agent & its <note>\n'
	printf 'process\t40\t0\tidle\tev\033[31mil\377\t\n'
	printf 'end\n'
} >answer

"$SPI_LTTNG" list --spi >out 2>err
is $? 0 "status"
is "$(cat err)" "" "nothing on stderr"
like "$(cat out)" 'Session daemon 4711 \(lttng-tools 2.13.9\), plugin attached' "the daemon"
like "$(cat out)" 'Note: proc connector: not allowed' "its notes"
like "$(cat out)" 'Session one, channel channel0:' "rules by session and channel"
like "$(cat out)" 'Session one, channel big:' "another channel"
like "$(cat out)" $'\n  Trigger t:\n    spi:parse_entry ' "a trigger's, by its name"
like "$(cat out)" 'spi:parse_\* \[enabled\] of uid 1000, instruments' "a rule"
like "$(cat out)" 'spi:call\(libz[^ ]* \[disabled\] of uid 0, instruments: in\* of libz\.so\.1.*server' "a reserved name, readably"
like "$(cat out)" '20 server \(uid 1000\): traced' "a process"
like "$(cat out)" '30 passwd \(uid 0\): refused: setuid' "one that is refused, and why"
like "$(cat out)" 'Rule parse_\*: active; 25 functions matched, 3 instrumented, 22 not' "its rules"
like "$(cat out)" 'Events recorded: 18 \(10 entries, 8 exits\); calls lost: 2; exits lost: 1' "its events"
is "$(grep -c 'Not instrumented: server:parse_.*: too short' out)" 20 "twenty functions with their reasons"
like "$(cat out)" 'and 2 more; --verbose names all' "and how many more"
like "$(cat out)" 'Note: an agent & its <note>' "its notes"
like "$(cat out)" '40 ev\?\[31mil' "no control character gets through"
is "$("$SPI_LTTNG" list --spi --verbose | grep -c 'Not instrumented:')" 22 "--verbose names all"
is "$("$SPI_LTTNG" -v list --spi | grep -c 'Not instrumented:')" 22 "so does lttng -v"
is "$("$SPI_LTTNG" -q list --spi 2>&1)" "" "-q says nothing"

"$SPI_LTTNG" list --spi --pid 30 >out 2>&1
is "$?:$(cat out)" "0:  30 passwd (uid 0): refused: setuid" "--pid"
wrong 1 '99: no such process' list --spi --pid 99

"$SPI_LTTNG" --mi xml list --spi >out.xml 2>err
is $? 0 "--mi xml: status"
python3 - >out 2>&1 <<'EOF_PYTHON'
import xml.etree.ElementTree as tree
root = tree.parse("out.xml").getroot()
first = root.find("process")
print(root.tag, root.get("version"), len(root.findall("process")), len(root.findall("rule")), first.findtext("pid"),
      len(first.findall("declined")), first.find("declined").findtext("function"), first.find("counts").findtext("exits"),
      first.find("message").findtext("text"), root.find("note").findtext("text"))
EOF_PYTHON
is "$(cat out)" "spi_status 1 3 4 20 22 parse_1 8 an agent & its <note> proc connector: not allowed" "--mi xml: all of it"
"$SPI_LTTNG" --mi xml list --spi --pid 30 >out.xml
is "$(grep -c '<process>' out.xml)" 1 "--mi xml with --pid"

printf 'version\t1\ndaemon\t1\tplugin\t2.13.9\nend\n' >answer
like "$("$SPI_LTTNG" list --spi)" 'Rules: none.*Processes: none' "nothing to show"
printf 'version\t1\nprocess\t20\t0\ttraced\tx\t\n' >answer
wrong 1 'broke off its answer' list --spi
: >answer
wrong 1 'broke off' list --spi
printf 'version\t2\nend\n' >answer
wrong 1 'another version' list --spi
head -c 300000 /dev/urandom >answer
wrong 1 '(broke off|another version)' list --spi
printf 'applied\t5\nprocess\napplied\t-3\tx\ncounts\t7\t99999999999999999999\nrule\nend\n' >answer
check "short records" "$SPI_LTTNG" list --spi
check "short records as XML" "$SPI_LTTNG" --mi xml list --spi

finish "$target"
wrong 1 "no session daemon with the plugin" list --spi
tap_done
