#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The analysis of typed calls for Trace Compass (doc/lttng-spi-calls.xml), run as
# Trace Compass runs it, on a recorded trace: its events are those that are
# recorded, its fields are there, and each thread's stack comes out as the calls
# were; and what Trace Compass needs of a call tree's trace is in it.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc app "$SPI_TOP_SRCDIR/tests/programs/tree-program.c"

cat >analyse.py <<'PY'
"""Runs the pattern of a call-stack analysis over what babeltrace2 prints; one line a path of calls: COUNT PATH."""
import collections, fnmatch, re, sys
import xml.etree.ElementTree as tree

callstack = tree.parse(sys.argv[1]).getroot().find('callstack')
pattern = callstack.find('pattern')
trace_types = [t.get('id') for t in pattern.find('head').findall('traceType')]
assert 'org.eclipse.linuxtools.lttng2.ust.tracetype' in trace_types, trace_types
locations = {l.get('id'): l.findall('stateAttribute') for l in pattern.findall('location')}
actions = {a.get('id'): a.find('stateChange') for a in pattern.find('patternHandler').findall('action')}
fsm = pattern.find('patternHandler').find('fsm')
assert fsm.get('multiple') == 'false'
state = {s.get('id'): s for s in fsm.findall('state')}[fsm.get('initial')]
levels = [l.get('path') for l in callstack.find('callstackGroup').findall('level')]
stacks, paths = collections.defaultdict(list), collections.Counter()

def resolve(attributes, fields):
    for attribute in attributes:
        if attribute.get('type') == 'location':
            yield from resolve(locations[attribute.get('value')], fields)
        elif attribute.get('type') == 'eventField':
            yield fields[attribute.get('value')]
        else:
            yield attribute.get('value')

for line in sys.stdin:
    match = re.match(r'\[[^]]*\] \(\+[^)]*\) \S+ (\S+): \{[^}]*\}, \{ vpid = (\d+), vtid = (\d+)', line)
    if not match:
        continue
    fields = {'context._vpid': match[2], 'context._vtid': match[3]}
    for transition in state.findall('transition'):
        if not fnmatch.fnmatchcase(match[1], transition.get('event')):
            continue
        assert transition.get('target') == state.get('id')
        change = actions[transition.get('action')]
        path = list(resolve(change.findall('stateAttribute'), fields))
        assert path[-1] == 'CallStack' and fnmatch.fnmatchcase('/'.join(path[:-1]), '/'.join(levels)), path
        value, stack = change.find('stateValue'), stacks['/'.join(path)]
        assert value.get('type') == 'eventName'
        if value.get('stack') == 'push':
            stack.append(match[1].removeprefix('spi:').removesuffix('_entry'))
            paths['/'.join(stack)] += 1
        else:
            top = stack.pop()
            assert match[1] == 'spi:%s_exit' % top, (match[1], top)
assert not any(stacks.values()), stacks
for path, count in sorted(paths.items()):
    print(count, path)
PY

spi_trace -f '*' -o typed ./app 4 >out
is $? 3 "typed calls are recorded" || diag "$(cat trace.err)"
babeltrace2 typed >typed.txt 2>/dev/null
python3 analyse.py "$SPI_TOP_SRCDIR/doc/lttng-spi-calls.xml" <typed.txt >out 2>err
is $? 0 "the analysis goes through" || diag "$(tail -n 3 err)"
is "$(grep -o '[0-9]* main/top.*' out | sed 's/^ *//' | tr '\n' ' ')" \
	"1 main/top 4 main/top/branch 4 main/top/branch/leaf 4 main/top/middle 8 main/top/middle/leaf " "each call in its place" || diag "$(cat out)"

# By what a reader knows an LTTng user-space trace, its threads, and where libraries are.
spi_trace --tree --lib app -o tree ./app 4 >out
is $? 3 "a call tree is recorded" || diag "$(cat trace.err)"
metadata=$(babeltrace2 --output-format=ctf-metadata "$(dirname "$(find tree -name metadata)")" 2>err)
like "$metadata" 'domain = "ust"' "the environment: domain"
like "$metadata" 'tracer_name = "lttng-ust"' "the environment: tracer"
like "$metadata" '_?vtid' "the context vtid"
babeltrace2 tree >tree.txt 2>/dev/null
for event in lttng_ust_statedump:start lttng_ust_statedump:bin_info lttng_ust_statedump:build_id lttng_ust_statedump:end; do
	check "in the trace: $event" grep -q " $event: .*vpid = [0-9]*, vtid" tree.txt
done
check "the program's libraries are described" grep -q 'statedump:bin_info.*/libc\.so' tree.txt
is "$(grep -c 'statedump:bin_info.*/liblttng-spi' tree.txt)" 0 "the tracer's own are not"
like "$(grep -m1 func_entry tree.txt)" 'vpid = [0-9]+, vtid = [0-9]+, ip = [0-9]+ \}, \{ addr = 0x[0-9A-F]+, call_site = 0x[0-9A-F]+ \}' \
	"an entry has the fields and contexts that are looked for"
python3 - <<'PY'
import re, sys
last, bad = {}, 0
for line in open('tree.txt'):
    m = re.match(r'\[(\d+):(\d+):(\d+\.\d+)\].* lttng_ust_cyg_profile:.*vtid = (\d+)', line)
    if m:
        time = (int(m[1]) * 3600 + int(m[2]) * 60) * 10**9 + int(m[3].replace('.', ''))
        bad += time <= last.get(m[4], -1)
        last[m[4]] = time
sys.exit(bad != 0 or not last)
PY
ok $? "timestamps strictly increase in a thread"
tap_done
