#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng-spi export`: each format has the calls that `lttng-spi calls` and `report` have, as Python's JSON,
# callgrind_annotate and babeltrace2 read them. Typed events, trees, compact records, whole calls, lost events.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
spi_daemon
spi=$SPI_TOP_BUILDDIR/reader/lttng-spi
compare() { python3 "$SPI_TOP_SRCDIR/tests/lib/export.py" "$@"; }
spi_cc shop exported.cc

spi_trace_ok "typed events" -f 'shop::*' -o typed ./shop 20
spi_trace_ok "events of whole calls" -f 'shop::*' --one-event -o whole ./shop 20
spi_trace_ok "a tree" --tree=main -o tree ./shop 20
spi_trace_ok "a compact tree" --tree=main --compact -o compact ./shop 20

for trace in typed whole tree compact; do
	"$spi" calls --format json "$trace" >"$trace.calls"
	"$spi" report --format json "$trace" >"$trace.report"
	check "$trace, --chrome: written" "$spi" export --chrome -o "$trace.chrome" "$trace"
	check "$trace, --chrome: the same calls with times and values, and they nest" \
		compare chrome "$trace.calls" "$trace.chrome"
	check "$trace, --chrome: the format's own rules" compare format "$trace.chrome"
	check "$trace, --speedscope: written" "$spi" export "$trace" --speedscope -o "$trace.speedscope"
	check "$trace, --speedscope: the same calls, which open and close in order" \
		compare speedscope "$trace.calls" "$trace.speedscope"
	check "$trace, --callgrind: written" "$spi" export --callgrind -o "$trace.callgrind" "$trace"
	callgrind_annotate --inclusive=yes --threshold=100 "$trace.callgrind" >totals 2>warnings
	callgrind_annotate --inclusive=no --threshold=100 "$trace.callgrind" >self 2>>warnings
	is "$(cat warnings)" "" "$trace, --callgrind: callgrind_annotate has nothing against it"
	check "$trace, --callgrind: totals, self times and calls as report has them, of recursion too" \
		compare callgrind "$trace.report" "$trace.callgrind" totals self
	check "$trace, --ctf: written" "$spi" export --ctf -o "$trace.ctf" "$trace"
	babeltrace2 "$trace.ctf" >"$trace.text" 2>warnings
	is "$(cat warnings)" "" "$trace, --ctf: babeltrace2 has nothing against it"
	is "$("$spi" calls --format json "$trace.ctf" | grep -c '"kind":"\(entry\|call\)"')" \
		"$(grep -c '"kind":"\(entry\|call\)"' "$trace.calls")" "$trace, --ctf: as many calls"
done
check "--ctf: a tree's calls in order, with names" compare ctf tree.calls tree.text
check "--ctf: those of compact records, too" compare ctf compact.calls compact.text
is "$(grep -c 'spi_tree:calls' compact.text)" 0 "--ctf: no compact records are left"
is "$(grep -c '</script>' typed.chrome)" 0 "values cannot end a page's script"
check "filters" "$spi" export --chrome --function shop::leaf -o leaf.chrome typed
is "$(grep -o '"name":"shop::[a-z]*"' leaf.chrome | sort -u)" '"name":"shop::leaf"' "only what they choose"
like "$("$spi" export typed 2>&1)" 'which format' "a format is to be named"
like "$("$spi" export --ctf -o typed.ctf typed 2>&1)" 'typed.ctf: File exists' "a directory that is there is left alone"
like "$("$spi" export --ctf typed 2>&1)" 'name one' "--ctf needs a directory"
like "$("$spi" export --ctf --depth 1 -o x typed 2>&1)" 'no filters' "--ctf takes no filters"

spi_cc ways "$SPI_TOP_SRCDIR/tests/programs/ways.cc" -fno-optimize-sibling-calls
CHANNEL='--subbuf-size=4096 --num-subbuf=2' record lost 'call(ways:t_*;compact)' ./ways thread 3000
"$spi" calls --format json lost >lost.calls 2>/dev/null
check "lost events: --chrome" "$spi" export --chrome -o lost.chrome lost
check "lost events: what is there nests" compare chrome lost.calls lost.chrome
check "lost events: the format's own rules" compare format lost.chrome
check "lost events: --chrome shows where" grep -q 'calls are missing here\|events are lost here' lost.chrome
check "lost events: --speedscope" "$spi" export --speedscope -o lost.speedscope lost
check "lost events: profiles are whole" compare speedscope lost.calls lost.speedscope
check "lost events: --ctf" "$spi" export --ctf -o lost.ctf lost
like "$(babeltrace2 lost.ctf 2>&1 >/dev/null)" '[Dd]iscarded' "lost events: --ctf keeps LTTng's counts"
spi_trace_ok "a trace of many packets" --tree=main --lib shop --subbuf-size 4096 --num-subbuf 256 -o cut ./shop 300
for stream in cut/ust/uid/0/64-bit/*_[0-9]*; do
	[ "$(stat -c %s "$stream")" -lt 16384 ] || truncate -s $(($(stat -c %s "$stream") * 2 / 3)) "$stream"
done
check "a trace that is cut off: --ctf" "$spi" export --ctf -o cut.ctf cut
like "$("$spi" export --ctf -o again.ctf cut 2>&1)" 'Warning: the trace is damaged, what is whole is written: ' \
	"it is said"
[ "$(babeltrace2 cut.ctf 2>warnings | grep -c 'func_entry.* name = ')" -gt 100 ]
ok $? "what is whole is there"
is "$(grep -v iscarded warnings)" "" "and can be read"
check "a trace that is cut off: --chrome" "$spi" export --chrome -o cut.chrome cut
"$spi" calls --format json cut >cut.calls 2>/dev/null
check "and nests" compare chrome cut.calls cut.chrome
check "and keeps to the format" compare format cut.chrome
for target in chrome speedscope callgrind; do
	"$spi" export "--$target" -o /dev/full tree 2>error
	is "$? $(cat error)" "1 Error: /dev/full: No space left on device" "an output that cannot be written: --$target"
done
mkdir empty
like "$("$spi" export --chrome empty 2>&1)" 'no trace in it' "a directory that is no trace"
tap_done
