#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""What uftrace and lttng-spi say of the same calls, as lines that can be compared.

  uftrace.py replay DIR | calls DIR       each thread's calls in order: depth and name
  uftrace.py report DIR | table DIR       calls and name
  uftrace.py graph DIR F | below DIR F    what F calls: depth, calls and name
"""
import collections
import json
import os
import re
import subprocess
import sys

PROGRAM = os.environ.get('SPI_TOP_BUILDDIR', '.') + '/reader/lttng-spi'


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def threads_write(threads):
    """Threads of one trace have numbers of their own: the main one comes first, others in order of what they call."""
    rest = sorted('\n'.join(t) for t in list(threads.values())[1:])
    print('\n--\n'.join(['\n'.join(t) for t in list(threads.values())[:1]] + rest))


OUTSIDE = re.compile(r'__monstartup|__cxa_atexit|__fentry__')	# what -pg adds before main()


def replay(directory):
    threads = collections.OrderedDict()
    for line in output('uftrace', 'replay', '-d', directory, '-f', 'tid').splitlines():
        found = re.match(r'\s*\[ *(\d+)\] \| ( *)(\S.*?)\(\)(?:;| \{)', line)
        if found and not OUTSIDE.match(found[3]):
            threads.setdefault(found[1], []).append('%d %s' % (len(found[2]) // 2, found[3]))
    threads_write(threads)


def calls(directory):
    threads = collections.OrderedDict()
    for line in output(PROGRAM, 'calls', '--format=json', directory).splitlines():
        call = json.loads(line)
        if call['kind'] == 'entry':
            threads.setdefault(call['thread'], []).append('%d %s' % (call['depth'], call['function']))
    threads_write(threads)


def report(directory):
    rows = []
    for line in output('uftrace', 'report', '-d', directory, '-f', 'call').splitlines():
        found = re.match(r'\s*(\d+)\s+(\S.*)$', line)
        if found and not OUTSIDE.match(found[2]):
            rows.append('%s %s' % (found[1], found[2]))
    print('\n'.join(sorted(rows)))


def table(directory):
    rows = json.loads(output(PROGRAM, 'report', '--format=json', directory))['rows']
    print('\n'.join(sorted('%d %s' % (row['calls'], row['name']) for row in rows)))


def graph(directory, function):
    """uftrace puts brothers below each other with `+-`; an only child stands below its parent without."""
    stack, lines, is_graph = [], [], False
    for line in output('uftrace', 'graph', '-d', directory, function).splitlines():
        is_graph = is_graph or 'FUNCTION CALL GRAPH' in line
        found = re.match(r'[^:]*: ([ |]*)(\+-)?\((\d+)\) (.*)$', line)
        if not is_graph or not found:
            continue
        while found[2] and stack and stack[-1][0] >= len(found[1]):
            stack.pop()
        stack.append((len(found[1]), found[4]))
        lines.append('%s %s' % (';'.join(name for _, name in stack), found[3]))
    print('\n'.join(sorted(lines)))


def below(directory, function):
    lines = []

    def walk(nodes, above):
        for node in nodes:
            path = above + [node['function']]
            lines.append('%s %d' % (';'.join(path), node['calls']))
            walk(node['children'], path)
    sys.setrecursionlimit(20000)
    walk(json.loads(output(PROGRAM, 'graph', '--format=json', directory, function))['callees'], [])
    print('\n'.join(sorted(lines)))


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
