#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Expanded compact records against the truth.

    compare.py same PROGRAM PLAIN EXPANDED     each thread's sequence of entries and exits is that of some thread
                                               of PLAIN, a trace of the same run with typed events (spi:NAME_entry);
                                               and every call site stands behind a call of that function in PROGRAM
    compare.py sequences ONE OTHER             each thread's sequence of entries and exits, with functions and call
                                               sites, is that of some thread of the other trace
    compare.py equal EXPANDED OTHER            two expanded traces hold the same events, thread by thread
    compare.py balance EXPANDED [--open N]     exits match entries, times increase strictly in each thread

Files are what babeltrace2 prints; "-" is standard input. The function t_main is the first to be entered.
"""
import collections
import re
import subprocess
import sys

LINE = re.compile(r'^\[(?P<time>[0-9:.]+)\] \([^)]*\) \S+ (?P<name>.*?): \{ cpu_id = \d+ \}, \{(?P<context>[^}]*)\}, \{(?P<fields>.*)\}$')
PAIR = re.compile(r'(\w+) = (-?\w+)')


def events(name):
    """Time in ns, event name, contexts, fields."""
    with (sys.stdin if name == '-' else open(name, errors='surrogateescape')) as stream:
        for line in stream:
            match = LINE.match(line.rstrip('\n'))
            if not match:
                continue
            h, m, s = match['time'].split(':')
            seconds, _, fraction = s.partition('.')
            time = ((int(h) * 60 + int(m)) * 60 + int(seconds)) * 10**9 + int(fraction.ljust(9, '0'))
            yield time, match['name'], dict(PAIR.findall(match['context'])), dict(PAIR.findall(match['fields']))


def symbols(program):
    out = subprocess.run(['nm', program], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {name: int(value, 16) for value, kind, name in
            (line.split() for line in out.splitlines() if len(line.split()) == 3) if kind in 'tT'}


def return_addresses(program):
    """Address behind a direct call -> what it calls."""
    out = subprocess.run(['objdump', '-d', '--no-show-raw-insn', program], stdout=subprocess.PIPE, text=True, check=True).stdout
    table, last = {}, None
    for line in out.splitlines():
        match = re.match(r'^\s*([0-9a-f]+):\s+(\S+)\s*([0-9a-f]*)', line)
        if not match:
            continue
        address = int(match[1], 16)
        if last is not None:
            table[address] = last
        last = int(match[3], 16) if match[2].startswith('call') and match[3] else None
    return table


def calls(name):
    """Thread, is entry, addr, call_site, time: as they come."""
    for time, event, context, fields in events(name):
        if not event.startswith('lttng_ust_cyg_profile:func_e'):
            continue
        assert int(context['ip'], 0) == int(fields['addr'], 16) if 'ip' in context else True
        yield ((context['vpid'], context['vtid']), event.endswith('entry'), int(fields['addr'], 16),
               int(fields['call_site'], 16), time)


def expanded(name):
    """Thread -> list of (is entry, addr, call_site, time)."""
    threads = collections.OrderedDict()
    for thread, *row in calls(name):
        threads.setdefault(thread, []).append(tuple(row))
    return threads


def same(program, plain, name):
    names, sites = symbols(program), return_addresses(program)
    typed = collections.OrderedDict()
    for _, event, context, _ in events(plain):
        match = re.match(r'spi:(.*)_(entry|exit)$', event)
        if match:
            typed.setdefault((context['vpid'], context['vtid']), []).append((match[2] == 'entry', match[1]))
    threads = expanded(name)
    first = min((rows[0] for rows in threads.values()), key=lambda row: row[3])
    bias = first[1] - names['t_main']
    by_address = {value + bias: key for key, value in names.items() if key.startswith('t_')}
    want = collections.Counter(tuple(rows) for rows in typed.values())
    got = collections.Counter(tuple((row[0], by_address.get(row[1], hex(row[1]))) for row in rows) for rows in threads.values())
    bad = 0
    for key in (want - got):
        print('a thread with %d events is missing or different; begins %s' % (len(key), key[:6]))
        close = max(got - want, key=len, default=())
        at = next((i for i, (a, b) in enumerate(zip(key, close)) if a != b), min(len(key), len(close)))
        print('closest differs at %d of %d: %s, expected %s' % (at, len(close), close[at:at + 4], key[at:at + 4]))
        bad += 1
    bad += sum((got - want).values())
    indirect = {'t_work', 't_ending', 't_handler'}
    checked = 0
    for rows in threads.values():
        for _, address, site, _ in rows:
            if by_address.get(address) in indirect:
                continue
            checked += 1
            if sites.get(site - bias) != address - bias:
                print('call site %#x is not behind a call of %s' % (site - bias, by_address.get(address)))
                return 1
    print('%d threads, %d events, %d call sites checked, %d threads differ' % (
        len(threads), sum(len(rows) for rows in threads.values()), checked, bad))
    return 1 if bad or not checked else 0


def sequences(one, other):
    a, b = (collections.Counter(tuple(row[:3] for row in rows) for rows in expanded(name).values()) for name in (one, other))
    print('%d and %d threads, %d and %d events' % (sum(a.values()), sum(b.values()),
                                                   sum(len(k) * n for k, n in a.items()), sum(len(k) * n for k, n in b.items())))
    for key in a - b:
        close = max(b - a, key=lambda k: next((i for i, (x, y) in enumerate(zip(k, key)) if x != y), len(k)), default=())
        at = next((i for i, (x, y) in enumerate(zip(key, close)) if x != y), min(len(key), len(close)))
        print('%d events, closest differs at %d of %d:' % (len(key), at, len(close)))
        for name, rows in (('one', key), ('other', close)):
            print(name, [(row[0], hex(row[1]), hex(row[2])) for row in rows[max(0, at - 2):at + 3]])
    return 0 if a == b and a else 1


def equal(one, other):
    a, b = expanded(one), expanded(other)
    print('%d and %d threads, %d and %d events' % (len(a), len(b), sum(map(len, a.values())), sum(map(len, b.values()))))
    return 0 if a == b and a else 1


def balance(name, allowed):
    """Keeps no more than what is open: there may be 200 million events."""
    entries = exits = crossed = backward = 0
    stacks, last = collections.defaultdict(list), collections.defaultdict(lambda: -1)
    for thread, is_entry, address, _, time in calls(name):
        stack = stacks[thread]
        backward += time <= last[thread]
        last[thread] = time
        if is_entry:
            entries += 1
            stack.append(address)
        else:
            exits += 1
            crossed += not stack or stack.pop() != address
    left = sum(map(len, stacks.values()))
    print('entries %d exits %d crossed %d open %d backward %d' % (entries, exits, crossed, left, backward))
    return 1 if crossed or backward or left > allowed or not entries else 0


def main(argv):
    if len(argv) == 5 and argv[1] == 'same':
        return same(*argv[2:])
    if len(argv) == 4 and argv[1] == 'sequences':
        return sequences(*argv[2:])
    if len(argv) == 4 and argv[1] == 'equal':
        return equal(*argv[2:])
    if len(argv) >= 3 and argv[1] == 'balance':
        return balance(argv[2], int(argv[4]) if len(argv) > 4 else 0)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == '__main__':
    sys.exit(main(sys.argv))
