#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng-spi report --diff`: changes are what the tables of both traces say.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi=$SPI_TOP_BUILDDIR/reader/lttng-spi
spi_cc shop exported.cc
spi_trace_ok "before" -f shop::leaf -f shop::fib -o before ./shop 2
spi_trace_ok "after" -f shop::leaf -f shop::even -o after ./shop 5
for trace in before after; do
	"$spi" report --format json "$trace" >"$trace.json"
done

cat >compare.py <<'EOF_PY'
"""compare.py DIFF: the same as before.json and after.json"""
import json, sys
diff = json.load(open(sys.argv[1]))['rows']
sides = {side: {row['name']: row for row in json.load(open(side + '.json'))['rows']} for side in ('before', 'after')}
assert {row['name'] for row in diff} == set(sides['before']) | set(sides['after']), diff
for row in diff:
    name = row['name']
    state = 'both' if all(name in rows for rows in sides.values()) else 'new' if name in sides['after'] else 'gone'
    assert row['state'] == state, row
    for metric in ('calls', 'total', 'self', 'average'):
        was, now = (sides[side].get(name, {}).get(metric, 0) for side in ('before', 'after'))
        cell = row[metric]
        assert (cell['before'], cell['after'], cell['change']) == (was, now, now - was), (row, was, now)
        assert cell['percent'] is None if not was else abs(cell['percent'] - 100 * (now - was) / was) < 0.001, row
print([row['name'] for row in diff])
EOF_PY
"$spi" report --diff before --format json after >diff.json
check "JSON: calls and times of both, changes, new and gone" python3 compare.py diff.json
"$spi" report --diff before --sort calls --format json after >calls.json
check "--sort calls: the largest change first" python3 -c "
import json
changes = [abs(row['calls']['change']) for row in json.load(open('calls.json'))['rows']]
assert changes == sorted(changes, reverse=True) and changes[0] > 0, changes
"
"$spi" report --diff before --format csv after >diff.csv
check "CSV: the same" python3 -c "
import csv, json
rows = {row['name']: row for row in json.load(open('diff.json'))['rows']}
table = list(csv.DictReader(open('diff.csv')))
assert {line['function'] for line in table} == set(rows)
for line in table:
    row = rows[line['function']]
    assert line['state'] == row['state'], line
    for metric in ('calls', 'total', 'self', 'average'):
        assert [int(line[metric + '_before']), int(line[metric]), int(line[metric + '_change'])] == \\
            [row[metric][k] for k in ('before', 'after', 'change')], line
"
# leaf TRACE - calls of shop::leaf
leaf() { "$spi" report --function shop::leaf --format csv "$1" | tail -n +2 | cut -d, -f3; }
leaf_before=$(leaf before) leaf_after=$(leaf after)
percent=$(python3 -c "print('%.1f' % (100 * ($leaf_after - $leaf_before) / $leaf_before))")
"$spi" report --diff before after >text
check "text: the change of calls, absolute and in percent" grep -qE \
	"^ +\\+$((leaf_after - leaf_before)) +\\+$percent % .* shop::leaf \\[shop\\]$" text ||
	diag "$(cat text)"
check "text: a function that is gone" grep -qE '^ +-[0-9]+ +-100\.0 % .* shop::fib \[shop\] \(gone\)$' text
check "text: a new one" grep -qE '^ +\+[0-9]+ +- .* shop::even \[shop\] \(new\)$' text
is "$("$spi" report --diff before --function shop::leaf --format csv after | tail -n +2 | cut -d, -f1)" shop::leaf \
	"filters are for both"
is "$("$spi" report --diff after --format csv after | tail -n +2 | cut -d, -f6,10,14,18 | sort -u)" 0,0,0,0 \
	"a trace and itself"
like "$("$spi" report --diff before --sort p99 after 2>&1)" 'total, self, calls, average or name' \
	"no order by what is not compared"
like "$("$spi" report --diff nowhere after 2>&1)" 'nowhere: No such file' "a trace that is not there"
tap_done
