#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng-spi calls`, `report` and `graph` say of a program what uftrace's replay, report and graph say of its -pg build: the
# same names, nested alike, as often; times are in proportion to what the program does. Where uftrace 0.13 is wrong
# (longjmp, exit() within a call), the numbers are those of the source.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
PATH=$SPI_TOP_BUILDDIR/reader:$PATH
same() { python3 "$SPI_TOP_SRCDIR/tests/lib/uftrace.py" "$@"; }

# compare NAME PROGRAM SHAPE [TRACE OPTION...]
compare() {
	local name=$1 program=$2 shape=$3
	shift 3
	rm -rf ours theirs
	spi_trace --tree=main --lib "$program" "$@" -o ours "./$program" "$shape" >/dev/null
	uftrace record -d theirs --no-libcall --no-event "./$program-pg" "$shape" >/dev/null 2>uftrace.err
	same calls ours >ours.calls
	same replay theirs >theirs.calls
	same_file ours.calls theirs.calls "$name: the same $(grep -c . ours.calls) calls" || diag "$(tail -n 3 trace.err)"
	same table ours >ours.table
	same report theirs | grep -v ' <0>$' >theirs.table	# of a forked child uftrace has a row without a name
	same_file ours.table theirs.table "$name: the same counts"
	same below ours main >ours.graph
	same graph theirs main >theirs.graph
	same_file ours.graph theirs.graph "$name: the same graph"
}

for level in 0 1 2; do
	spi_cc "viewed$level" viewed.c "-O$level"
	spi_cc "viewed$level-pg" viewed.c "-O$level" -pg
	compare "-O$level: recursion" "viewed$level" recursion
	compare "-O$level: pointers, compact" "viewed$level" pointers --compact
	compare "-O$level: callbacks of libc's" "viewed$level" callbacks
	compare "-O$level: threads, compact" "viewed$level" threads --compact
	compare "-O$level: forks" "viewed$level" forks
done
compare 'deep recursion, compact' viewed2 deep --compact
for level in 0 2; do
	spi_cc "objects$level" viewed.cc "-O$level"
	spi_cc "objects$level-pg" viewed.cc "-O$level" -pg
	compare "C++ -O$level: virtual functions" "objects$level" objects
	compare "C++ -O$level: exceptions, compact" "objects$level" exceptions --compact
done

# ---- what uftrace gets wrong ----
counts() { lttng-spi report --format csv "$1" | awk -F, 'NR > 1 { print $1, $3 }' | sort; }
for how in '' --compact; do
	rm -rf jumps quits
	# shellcheck disable=SC2086
	spi_trace --tree=main --lib viewed2 $how -o jumps ./viewed2 jumps >/dev/null
	is "$(counts jumps)" "$(printf '%s\n' 'jump 10' 'jumps 1' 'leaf 2' 'main 1' 'twice 1')" "longjmp: counts ($how)"
	is "$(lttng-spi calls jumps | grep -c 'jump.* longjmp')" 10 "longjmp: each call says that it was left so ($how)"
	# shellcheck disable=SC2086
	spi_trace --tree=main --lib viewed2 $how -o quits ./viewed2 quits >/dev/null
	is "$(counts quits)" "$(printf '%s\n' 'leaf 2' 'main 1' 'quits 1' 'quits_here 4' 'twice 1')" "exit() in the middle: counts ($how)"
	is "$(lttng-spi calls quits | grep -c 'process ended')" 6 "exit() in the middle: each open call says so ($how)"
done

# ---- a library that is unloaded before its calls are written ----
echo '__attribute__((noinline)) int plugged(int a) { volatile int b = a; return b; } int plug(int a) { return plugged(a) + 1; }' >library.c
gcc -O1 -shared -fPIC library.c -o viewed-library.so
for how in '' --compact; do
	rm -rf loads
	# shellcheck disable=SC2086
	spi_trace --tree=main --lib viewed2 --lib viewed-library.so $how -o loads ./viewed2 loads >/dev/null
	is "$(counts loads)" "$(printf '%s\n' 'loads 1' 'main 1' 'plug 4' 'plugged 4')" "loaded and unloaded twice: names and counts ($how)"
done

# ---- deeper than a graph is ----
spi_trace --tree=main --lib viewed2 --compact -o abyss ./viewed2 abyss >/dev/null
is "$(lttng-spi graph abyss 2>err | tail -n +2 | wc -l)" 10000 'the graph ends at 10 000 calls'
like "$(cat err)" '2003 calls are more than 10000 deep' 'and says how many are deeper'
check 'no node of it has more time than the one above it' python3 -c '
import json, subprocess, sys
sys.setrecursionlimit(100000)
node, time = json.loads(subprocess.run(["lttng-spi", "graph", "--format=json", "abyss"], capture_output=True).stdout)[0], 1 << 62
while node:
    assert node["total"] <= time, node["function"]
    time, node = node["total"], (node["children"] or [None])[0]
'

# ---- times: by sum ----
rm -rf times
spi_trace --tree=main --lib viewed2 -o times ./viewed2 recursion >/dev/null
lttng-spi report --format csv times >times.csv
check 'the self times of all functions are the total of main()' awk -F, '
	NR > 1 { self += $5 } $1 == "main" { total = $4 } END { exit !(self == total && total > 0) }' times.csv
# ---- whole calls of functions that call themselves: the total is the time of the outermost ones ----
spi_trace -f 'viewed2:*' --one-event -o whole ./viewed2 recursion >/dev/null
babeltrace2 --clock-seconds whole | python3 -c '
import collections, re, sys
calls = collections.defaultdict(list)
for line in sys.stdin:
    found = re.match(r"\[(\d+)\.(\d+)\] .* spi:(\w+): .* vtid = (\d+) .* duration = (\d+), left", line)
    if found:
        end = int(found[1]) * 10 ** 9 + int(found[2])
        calls[found[4], found[3]].append((end - int(found[5]), end))
for (_, name), spans in sorted(calls.items(), key=lambda c: c[0][1]):
    total, until = 0, 0
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    print(name, len(spans), total)' >whole.truth
lttng-spi report --format csv whole | awk -F, 'NR > 1 { print $1, $3, $4 }' | LC_ALL=C sort >whole.ours
same_file whole.ours whole.truth "whole calls: counts and totals of $(grep -c . whole.truth) functions"
is "$(lttng-spi report --by object --format csv whole | awk -F, 'NR > 1 { print $3, $4 == $5 }')" \
	"$(awk '{ n += $2 } END { print n, 1 }' whole.truth)" "and of the object: all that its functions took"
check 'no minimum is above its average, no p50 above p99, no p99 above its maximum' awk -F, '
	NR > 1 && ($7 > $6 || $6 > $8 || $9 > $10 || $10 > $8) { print; bad = 1 } END { exit bad }' times.csv
tap_done
