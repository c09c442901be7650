#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A tree with a budget as a rule of a session: what is left out is told by `list --spi`
# while the program runs, as text and as XML, and is in the session's trace; when the
# rule goes, nothing is told any more; `lttng trace --exec` has it in its summary.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree-names.sh"
spi_private "$@"
programs=$SPI_TOP_SRCDIR/tests/programs
gcc -O2 -g -c -o leaf.o "$programs/hot-leaf.c" || exit 1
spi_cc busy "$programs/hot.c" leaf.o -Wl,--no-as-needed -llttng-ust
broker_daemon

lttng_ok create one --output="$SPI_TMP/one"
# However long it takes until they are left out, of all the calls before the trace keeps the latest; what was left out is in a channel of its own.
lttng_ok enable-channel -u -s one calls --subbuf-size 1M --num-subbuf 4 --tracefile-size 8M --tracefile-count 3
lttng_ok enable-channel -u -s one told
lttng_ok enable-event -u -s one -c told spi_tree:budget
"$SPI_LTTNG" enable-event --spi --tree=main --lib busy --exec busy --budget 5 -s one -c calls >rule.log 2>&1
is $? 0 "the rule"
unlike "$(cat rule.log)" 'heeded' "is heeded"
like "$(cat rule.log)" 'ust event spi_tree:budget with filter' "and recorded"
lttng_ok start one
./busy loop 12000000000 >out 2>err &
busy=$!
check "it has left out what is called all the time" spi_wait 15 status_like "^left-out.$busy.out.[0-9]+.(99[0-9]|1000).busy.leaf"
check "with its budget" status_like "^budget.$busy.50.[0-9]+.[0-9]+.[0-9]+"
"$SPI_LTTNG" list --spi >list
like "$(cat list)" 'Budget 5 %: tracing took about [0-9.]+ % of the program' "list --spi: what tracing takes"
like "$(cat list)" 'Left out for the budget: busy:leaf, recorded [0-9]+ times before, (99\.[0-9]|100\.0) % of the cost' "list --spi: and what is left out"
"$SPI_LTTNG" --mi xml list --spi >list.xml
like "$(python3 -c 'import xml.etree.ElementTree as t
for p in t.parse("list.xml").getroot().findall("process"):
	for e in p.findall("left-out"): print(e.findtext("state"), e.findtext("object"), e.findtext("function"))')" "out busy leaf" "--mi xml: too"
"$SPI_LTTNG" disable-event --spi --tree=main --lib busy --exec busy --budget 5 -s one >rule.log 2>&1
is $? 0 "the rule goes" || diag "$(cat rule.log)"
check "and with it what it left out" spi_wait 10 status_unlike "^left-out.$busy"
kill "$busy"
wait "$busy" 2>/dev/null
lttng_ok destroy one
find one -name 'calls_[0-9]*' -delete
tree_read one
like "$(grep -a 'spi_tree:budget' one.names)" '"left_out".*function = "leaf"' "the session's trace has it" || diag "$(grep -a 'spi_tree:budget' one.names | head -n 5)"

"$SPI_LTTNG" trace --tree=main --lib busy --exec busy --budget 5 -o two 2>two.err &
tracer=$!
spi_wait 20 file_has two.err 'Trace directory' || diag "$(cat two.err)"
./busy loop 8000000000 >out 2>err &
busy=$!
spi_wait 15 status_like "^left-out.$busy.out" || diag "$(status | tail -n 5)"
kill -INT "$tracer"
wait "$tracer"
like "$(cat two.err)" 'Budget 5 %: tracing took about' "trace --exec: what tracing took"
like "$(cat two.err)" '[0-9]+\.[0-9] % +[0-9]+  busy:leaf' "trace --exec: what was left out"
kill "$busy"
wait "$busy" 2>/dev/null
tap_done
