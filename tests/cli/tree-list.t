#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Call trees in `lttng list --spi` and in the summary of `lttng trace --tree --exec`,
# with a status socket that is only played: rules in words, processes, the busiest
# functions and what leaving them out saves.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/rules.sh"
spi_private "$@"
spi_daemon

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
{
	printf 'version\t1\ndaemon\t4711\tplugin\t2.13.9\n'
	printf 'rule\tone\tc\tspi:tree(main;depth=3;exclude=log_%%2a;compact;exec=server)\tenabled\t0\tinstruments\t\n'
	printf 'process\t20\t0\ttraced\tserver\t\n'
	printf 'applied\t20\ttree(main;depth=3;exclude=log_*;compact;tag=00000000)\tactive\t1\t1\t0\t\n'
	for i in 1 2 3 4 5 6; do printf 'hot\t20\t%d\tserver\tf%d\n' $((700 - 100 * i)) "$i"; done
	printf 'end\n'
} >answer
background python3 server.py /run/lttng/spi-status

"$SPI_LTTNG" list --spi >out 2>err
is $? 0 "list: status"
is "$(cat err)" "" "list: nothing on stderr"
like "$(cat out)" 'spi:tree\(main;depth=3;.*\) \[enabled\].*: call tree of main, 3 deep, without log_\*, compact, in processes named server' \
	"a tree in words"
like "$(cat out)" 'Rule tree\(main;depth=3;.*: active' "its process"
is "$(grep 'Most calls: ' out | tr -s ' ' | tr '\n' ',')" \
	" Most calls: 600 of server:f1, Most calls: 500 of server:f2, Most calls: 400 of server:f3, Most calls: 300 of server:f4, Most calls: 200 of server:f5," \
	"the busiest functions"
is "$("$SPI_LTTNG" list --spi --verbose | grep -c 'Most calls')" 6 "--verbose: all of them"
"$SPI_LTTNG" --mi xml list --spi >out.xml
is "$(python3 -c 'import xml.etree.ElementTree as t
for h in t.parse("out.xml").getroot().find("process").findall("hot"): print(h.findtext("calls"), h.findtext("object"), h.findtext("function"))' |
	sed -n 1p)" "600 server f1" "--mi xml: too"

printf 'version\t1\nend\n' >answer
rm -f err
"$SPI_LTTNG" trace --tree=main --depth 3 --exclude 'log_*' --exec server -o t 2>err &
tracer=$!
spi_wait 20 file_has err 'Trace directory' || diag "$(cat err)"
session=$(lttng list | grep -o 'trace-server-[0-9-]*')
rules "$session"
is "$(grep -c $'\tspi:tree(main;depth=3;exclude=log_%2a;exec=server)\ttrue' rules)" 1 "trace --exec: the request"
is "$(grep -c $'\tlttng_ust_cyg_profile:func_e.*\ttrue\t.*spi:rules' rules)" 2 "trace --exec: what records"
is "$(grep -c $'\tlttng_ust_statedump:\*\ttrue\|\tlttng_ust_lib:\*\ttrue' rules)" 2 "trace --exec: where libraries are"
is "$(grep -c '<type>IP</type>' saved/*.lttng)" 1 "trace --exec: the context ip"
tag=$(grep -o '|[0-9a-f]\{8\}|' rules | head -n 1)
{
	printf 'version\t1\n'
	for pid in 20 21; do
		printf 'process\t%d\t0\ttraced\tserver\t\n' "$pid"
		printf 'applied\t%d\ttree(main;depth=3;exclude=log_*;tag=%s)\tactive\t1\t1\t0\t\n' "$pid" "${tag//|/}"
		printf 'hot\t%d\t400000\tserver\tns::get(int)\nhot\t%d\t50000\tlibz.so.1\tinflate_fast\nhot\t%d\t500\tserver\trare\n' \
			"$pid" "$pid" "$pid"
		for i in {1..110}; do printf 'hot\t%d\t450\tserver\tsmall%d\n' "$pid" "$i"; done
	done
	printf 'process\t22\t0\ttraced\tother\t\nhot\t22\t9000000\tother\tspin\nend\n'
} >answer
kill -INT "$tracer"
wait "$tracer"
is $? 0 "trace --exec: status"
like "$(cat err)" '80\.0 % +800000  server:ns::get\(int\)' "the summary: the busiest function with its share, over all processes"
like "$(cat err)" '10\.0 % +100000  libz.so.1:inflate_fast' "the summary: the next"
unlike "$(cat err)" 'rare|small' "the summary: none that does not matter"
unlike "$(cat err)" 'spin' "the summary: none of other processes"
like "$(cat err)" "leaving out the first two, and what only they call, saves at least 90 % of the events: --exclude 'ns::get\(int\)' --exclude inflate_fast" "the summary: what leaving them out saves"
finish "$target"
tap_done
