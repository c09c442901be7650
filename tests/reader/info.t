#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng-spi info`: what it says of a trace is what babeltrace2, readelf and the front end's own file say.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
spi_daemon
spi=$SPI_TOP_BUILDDIR/reader/lttng-spi
# of FILE EXPRESSION - a Python expression of the JSON in a file
of() { python3 -c 'import json, sys; i = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"; }
# counted DIR REGEX - events by babeltrace2
counted() { babeltrace2 "$1" 2>/dev/null | grep -cE ") $(hostname) ($2): "; }
spi_cc shop exported.cc
build_id=$(readelf -n shop | sed -n 's/.*Build ID: //p')

spi_trace_ok "typed events" -f 'shop:*' -f 'libc.so.6:_setjmp' -o typed ./shop 3
spi_trace_ok "a compact tree" --tree=main --compact --lib shop -o compact ./shop 3
spi_trace_ok "a tree" --tree=main --lib shop -o tree ./shop 3
spi_trace_ok "whole calls" -f 'shop::*' --one-event -o whole ./shop 3
for trace in typed compact tree whole; do
	check "$trace: info" "$spi" info --format json -o "$trace.json" "$trace"
	calls=$("$spi" calls --format json "$trace" | grep -c '"kind":"\(entry\|call\)"')
	is "$(of "$trace.json" 'i["calls"], sum(p["calls"] for p in i["processes"])')" "($calls, $calls)" "$trace: calls"
	is "$(of "$trace.json" 'i["processes"][0]["programs"]')" "['$PWD/shop']" "$trace: the program"
	is "$(of "$trace.json" 'i["processes"][0]["name"], i["processes"][0]["threads"]')" "('shop', 2)" "$trace: its threads"
	is "$(of "$trace.json" '[o["build_id"] for o in i["objects"] if o["path"].endswith("/shop")]')" "['$build_id']" \
		"$trace: the build-id"
	is "$(of "$trace.json" 'i["sessions"][0]["host"]')" "$(hostname)" "$trace: the host"
	is "$(of "$trace.json" 'i["lost"], i["gaps"]')" "([], 0)" "$trace: nothing is lost"
done
is "$(of typed.json 'i["events"]["typed"]')" "$(counted typed 'spi:.*_(entry|exit)')" \
	"typed events, as babeltrace2 counts"
is "$(of tree.json 'i["events"]["tree"]')" "$(counted tree 'lttng_ust_cyg_profile:func_(entry|exit)')" "a tree's events"
is "$(of whole.json 'i["events"]["whole"]')" "$(counted whole 'spi:.*')" "whole calls"
is "$(of compact.json 'i["events"]["batches"]')" "$(counted compact 'spi_tree:calls')" "batches"
is "$(of compact.json 'i["events"]["records"]')" "$(($(of compact.json 'i["calls"]') * 2))" "and what is in them"
is "$(of tree.json '[o["calls"] for o in i["objects"] if o["path"].endswith("/shop")][0]')" \
	"$(of tree.json 'i["calls"]')" "calls of an object"
is "$(of typed.json 'sorted((d["function"] + "\t" + d["reason"]) for d in i["not_instrumented"])')" \
	"$(python3 -c 'print(sorted(open("typed/not-instrumented.txt").read().splitlines()))')" \
	"what is not instrumented, and why"
is "$(of typed.json 'sorted((r["rule"], r["kind"], r["instrumented"], r["declined"]) for r in i["rules"])')" \
	"[('libc.so.6:_setjmp', 'functions', 0, 1), ('shop:*', 'functions', $(of typed.json 'len(i["typed_functions"])'), 1)]" \
	"rules, with how many functions they instrument and not"
is "$(of compact.json '[(r["rule"], r["kind"], r["pid"] == i["processes"][0]["pid"]) for r in i["rules"]]')" \
	"[('tree(main;lib=shop;compact)', 'tree', True)]" "a tree, and its process"
spi_trace_ok "a function that is not called" -f shop::leaf -f libc.so.6:getpgid -o uncalled ./shop 1
"$spi" info --format json -o uncalled.json uncalled
is "$(of uncalled.json 'sorted((f["name"], f["calls"] > 0) for f in i["typed_functions"])')" \
	"[('getpgid', False), ('shop::leaf', True)]" \
	"which functions have events, and which of them were called"
check "as text" eval "\"$spi\" info uncalled | grep -qE '^functions +2  have typed events, 1 without a call: getpgid$'"
"$spi" info typed >text
for line in "^process +[0-9]+ shop, 2 threads with calls, .* calls: $PWD/shop" \
	"^object +$PWD/shop, build-id $build_id, [0-9]+ calls; its file is here" \
	'^not instrumented +[0-9]+, returns twice: .*libc.so.6:_?setjmp' '^lost +nothing' \
	'^rule +shop:\*: [0-9]+ functions, 1 not instrumented; in process [0-9]+ shop$' '^recorded +20[0-9-]+ [0-9:.]+ to 20'; do
	check "as text: $line" grep -qE "$line" text
done

spi_cc viewed viewed.c
spi_trace_ok "a process that forks" --tree=main --lib viewed -o forked ./viewed forks
"$spi" info --format json -o forked.json forked
is "$(of forked.json 'len(i["objects"]) - len({(o["path"], o["build_id"]) for o in i["objects"]})')" 0 "each object is named once"

spi_cc ways "$SPI_TOP_SRCDIR/tests/programs/ways.cc" -fno-optimize-sibling-calls
CHANNEL='--subbuf-size=4096 --num-subbuf=2' record lost 'call(ways:t_*;compact)' ./ways thread 3000
"$spi" info --format json -o lost.json lost 2>/dev/null
discarded=$(($(babeltrace2 lost 2>&1 >/dev/null | sed -nE 's/.*discarded ([0-9]+) events? .*/\1/p' | paste -sd+)))
is "$(of lost.json 'i["lost"][0]["channel"], i["lost"][0]["events"]')" \
	"('ch', ${discarded:-0})" "lost events, by channel"
[ "$(of lost.json 'i["gaps"]')" -gt 0 ]
ok $? "and batches that are missing"
like "$("$spi" info "$PWD/nowhere" 2>&1)" 'nowhere: No such file' "a directory that is not there"
tap_done
