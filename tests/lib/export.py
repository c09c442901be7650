#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Compares what `lttng-spi export` writes with what `lttng-spi calls` and `report --format json` say of the same trace.

    export.py chrome CALLS CHROME         the same calls, times, values; they nest
    export.py format CHROME               the file keeps to the Trace Event Format
    export.py speedscope CALLS PROFILE
    export.py callgrind REPORT PROFILE TOTALS SELF    TOTALS, SELF: what callgrind_annotate prints
    export.py arcs PROGRAM OURS CALLGRIND  --tree=both of both: calls between functions of the program, below main()
    export.py ctf CALLS TEXT              babeltrace2's text of exported trees
"""
import collections
import json
import re
import sys


def calls_of(path):
    """(process, thread, function, begin, duration, arguments, result) of each call that ended."""
    begun, calls = {}, []
    for line in open(path):
        call = json.loads(line)
        if call['kind'] == 'lost':
            continue
        where = call['process'], call['thread'], call['function']
        if call['kind'] == 'entry':
            begun[call['call']] = call.get('arguments')
        elif 'duration' in call:
            begin = call['time'] - (call['duration'] if call['kind'] == 'exit' else 0)
            arguments = begun.pop(call['call']) if call['kind'] == 'exit' else call.get('arguments')
            calls.append((*where, begin, call['duration'], json.dumps(arguments), json.dumps(call.get('result')),
                          call.get('left')))
    return calls


def ns(text):
    """Microseconds with ns behind the point, exactly."""
    whole, point, rest = text.partition('.')
    assert point and len(rest) == 3, text
    return int(whole) * 1000 + (int(rest) if whole[0] != '-' else -int(rest))


def nests(calls):
    """Calls of one thread lie within each other, or apart."""
    for thread in {call[:2] for call in calls}:
        stack = []
        for begin, end in sorted(((c[3], c[3] + c[4]) for c in calls if c[:2] == thread), key=lambda c: (c[0], -c[1])):
            while stack and stack[-1] <= begin and (stack[-1] < end or stack[-1] == begin):
                stack.pop()
            if stack and end > stack[-1]:
                sys.exit(f'{thread}: a call from {begin} to {end} crosses the end of one at {stack[-1]}')
            stack.append(end)


def same(got, expected, size):
    got, expected = collections.Counter(c[:size] for c in got), collections.Counter(c[:size] for c in expected)
    for call in list((expected - got).elements())[:4]:
        print('missing:', call)
    for call in list((got - expected).elements())[:4]:
        print('too much:', call)
    if got != expected or not got:
        sys.exit(f'{sum(got.values())} calls, expected {sum(expected.values())}')
    print(sum(got.values()), 'calls')


def chrome(calls_path, path):
    trace = json.load(open(path), parse_float=ns)
    origin = int(trace['otherData']['origin'].split()[0])
    stacks, calls = collections.defaultdict(list), []
    for event in trace['traceEvents']:
        thread = event['pid'], event['tid']
        args = event.get('args', {})
        if event['ph'] == 'B':
            stacks[thread].append(event)
        elif event['ph'] == 'E':
            begin = stacks[thread].pop()
            calls.append((*thread, begin['name'], origin + begin['ts'], event['ts'] - begin['ts'],
                          json.dumps(begin.get('args', {}).get('arguments')), json.dumps(args.get('result')),
                          args.get('left')))
        elif event['ph'] == 'X':
            calls.append((*thread, event['name'], origin + event['ts'], event['dur'], json.dumps(args.get('arguments')),
                          json.dumps(args.get('result')), args.get('left')))
    assert not any(stacks.values()), 'calls do not end'
    nests(calls)
    same(calls, calls_of(calls_path), 8)


# Members of an event by phase: those that it must have, those that it may have.
EVENT = {'ph', 'pid', 'tid'}
PHASES = {
    'B': (EVENT | {'ts', 'name'}, {'cat', 'args'}),
    'E': (EVENT | {'ts'}, {'name', 'cat', 'args'}),
    'X': (EVENT | {'ts', 'dur', 'name'}, {'cat', 'args'}),
    'i': (EVENT | {'ts', 'name', 's'}, {'cat', 'args'}),
    'M': (EVENT | {'name', 'args'}, set()),
}


def members_once(pairs):
    assert len({name for name, _ in pairs}) == len(pairs), f'a member stands twice: {pairs}'
    return dict(pairs)


def no_number(text):
    sys.exit(f'{text} is no number in JSON')


def format(path):
    """What readers ask of the format: types and members, order and nesting, one name for each process and thread."""
    trace = json.loads(open(path, encoding='utf-8', errors='strict').read(), parse_float=ns, parse_constant=no_number,
                       object_pairs_hook=members_once)
    assert trace.keys() <= {'traceEvents', 'displayTimeUnit', 'otherData'} and trace['displayTimeUnit'] in ('ms', 'ns')
    stacks, latest, lanes, threads = collections.defaultdict(list), {}, collections.defaultdict(list), set()
    named = {'process_name': collections.Counter(), 'thread_name': collections.Counter()}
    for event in trace['traceEvents']:
        must, may = PHASES[event['ph']]
        assert must <= event.keys() <= must | may, event
        assert all(isinstance(event[n], int) and 0 <= event[n] < 2 ** 53
                   for n in event.keys() & {'pid', 'tid', 'ts', 'dur'}), event
        assert all(isinstance(event[n], str) and event[n] for n in event.keys() & {'name', 'cat'}), event
        assert isinstance(event.get('args', {}), dict), event
        thread = event['pid'], event['tid']
        if event['ph'] == 'M':
            assert event['args'].keys() == {'name'} and isinstance(event['args']['name'], str), event
            named[event['name']][event['pid'] if event['name'] == 'process_name' else thread] += 1
        elif event['ph'] == 'i':
            assert event['s'] in ('g', 'p', 't'), event
            threads |= {thread} if event['s'] == 't' else set()
        else:
            threads.add(thread)
            if event['ph'] == 'X':
                lanes[thread].append((event['ts'], event['ts'] + event['dur']))
                continue
            # begins and ends of a thread are in order of time, and an end closes the last that is open
            assert event['ts'] >= latest.get(thread, 0), f'backwards: {event}'
            latest[thread] = event['ts']
            if event['ph'] == 'B':
                stacks[thread].append(event)
            else:
                begin = stacks[thread].pop()
                assert event.get('name', begin['name']) == begin['name'], event
                # readers join the arguments of both
                assert not begin.get('args', {}).keys() & event.get('args', {}).keys(), event
                lanes[thread].append((begin['ts'], event['ts']))
    assert not any(stacks.values()), 'calls do not end'
    nests([(*thread, None, begin, end - begin) for thread, spans in lanes.items() for begin, end in spans])
    assert named['thread_name'] == collections.Counter(threads), 'each thread has one name'
    assert named['process_name'] == collections.Counter({pid for pid, _ in threads}), 'each process has one name'
    print(len(trace['traceEvents']), 'events')


def speedscope(calls_path, path):
    profile = json.load(open(path))
    expected = calls_of(calls_path)
    names = [frame['name'] for frame in profile['shared']['frames']]
    calls = []
    for lane in profile['profiles']:
        pid, tid = lane['name'].split()[-1].split(':')
        stack, last = [], lane['startValue']
        for event in lane['events']:
            assert event['at'] >= last, 'backwards'
            last = event['at']
            if event['type'] == 'O':
                stack.append(event)
            else:
                begin = stack.pop()
                assert begin['frame'] == event['frame'], 'crossed'
                calls.append((int(pid), int(tid), names[begin['frame']], begin['at'], event['at'] - begin['at']))
        assert not stack and lane['endValue'] == last and lane['unit'] == 'nanoseconds'
    origin = min(c[3] for c in expected) - min(c[3] for c in calls)
    same([(*c[:3], c[3] + origin, c[4]) for c in calls], expected, 5)


def annotated(path):
    """NAME [OBJECT] -> number, as callgrind_annotate prints them."""
    figures = {}
    for line in open(path):
        found = re.match(r' *([\d,]+) +(?:\([\d. ]+%\) +)?[^:]*:(.*?)(?: \[(.*)\])?$', line.rstrip('\n'))
        if found:
            figures[found[2], (found[3] or '').rpartition('/')[2]] = int(found[1].replace(',', ''))
    return figures


def callgrind(report_path, path, totals_path, self_path):
    rows = json.load(open(report_path))['rows']
    totals, selfs = annotated(totals_path), annotated(self_path)
    names, calls = {}, collections.Counter()
    for line in open(path):
        found = re.match(r'c?fn=\((\d+)\)(?: (.*))?', line)
        if found:
            if found[2]:
                names[found[1]] = found[2]
            callee = names[found[1]]
        elif line.startswith('calls='):
            calls[callee] += int(line[6:].split()[0])
    twice = collections.Counter(row['name'] for row in rows)
    compared = 0
    for row in rows:
        if twice[row['name']] > 1:
            continue
        key = row['name'], row.get('object', '???')
        # callgrind_annotate leaves out what adds nothing
        got = totals.get(key, 0), selfs.get(key, 0), calls[row['name']]
        if got != (row['total'], row['self'], row['calls']):
            sys.exit(f'{key}: total, self, calls {got}, expected {row["total"], row["self"], row["calls"]}')
        compared += 1
    print(compared, 'functions')


# NUMBER (SHARE) * or >  FILE:FUNCTION (CALLSx) [OBJECT], as --tree=both has a function and what it calls
ARC = re.compile(r' *[\d,]+ +(?:\([\d. ]+%\))? *([*>]) +[^:]*:(.*?)(?: \(([\d,]+)x\))?(?: \[(/.*)\])?$')


def arcs_of(path, program):
    """{(caller, callee): calls} of what main() leads to. Recursion has names of its own (f'2), C++ has parameters."""
    arcs, caller = collections.Counter(), None
    for line in open(path):
        found = ARC.match(line.rstrip('\n'))
        if not found or (found[1] == '>' and '.cold' in found[2]):
            continue            # a function's cold part is reached by a jump
        name = re.sub(r"'\d+$", '', found[2]).split('(')[0] if (found[4] or '').rpartition('/')[2] == program else None
        if found[1] == '*':
            caller = name
        elif caller and name:
            arcs[caller, name] += int(found[3].replace(',', ''))
    below, more = set(), {'main'}
    while more:
        below |= more
        more = {callee for caller, callee in arcs if caller in below} - below
    return {arc: calls for arc, calls in arcs.items() if arc[0] in below}


def arcs(program, ours_path, callgrind_path):
    ours, theirs = arcs_of(ours_path, program), arcs_of(callgrind_path, program)
    for arc in sorted(set(ours) | set(theirs)):
        if ours.get(arc) != theirs.get(arc):
            print(*arc, 'ours', ours.get(arc), 'callgrind', theirs.get(arc))
    if ours != theirs or not ours:
        sys.exit(1)
    # a function's calls are those on the arcs to it
    print(len(ours), 'arcs,', sum(ours.values()), 'calls')


def ctf(calls_path, path):
    """Names of entries in order, by thread."""
    expected, got = collections.defaultdict(list), collections.defaultdict(list)
    for line in open(calls_path):
        call = json.loads(line)
        if call['kind'] == 'entry':
            expected[call['thread']].append(call['function'])
    for line in open(path):
        if 'lttng_ust_cyg_profile:func_entry' in line:
            got[int(re.search(r'vtid = (\d+)', line)[1])].append(re.search(r' name = "(.*)" \}$', line)[1])
    for thread in expected:
        if got[thread] != expected[thread]:
            sys.exit(f'{thread}: {len(got[thread])} entries, expected {len(expected[thread])}')
    print(sum(map(len, got.values())), 'entries')


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
