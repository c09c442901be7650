#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Compares two recordings of one program's calls (calls --sequence).

    truth.py nesting TRUTH TREE OBJECT...   each thread's entries and exits, in their order
    truth.py entries TRUTH TREE OBJECT...   the entries alone

OBJECT is a file name, or TRUTH-NAME=TREE-NAME where the two recordings are of
two builds of it. Calls of functions in these objects are compared: by the
function's name and by the call site, which in these objects is a function and a
line, elsewhere (libc calling back) the very address. Of the main thread counts
what is between entry and end of main. Threads are compared as a multiset. -FUNCTION
leaves out that function and what it calls.
"""
import bisect
import collections
import os
import subprocess
import sys


class Binary:
    """Names of an ELF file's functions, and lines of its code."""

    def __init__(self, path):
        self.path, self.sites = path, {}
        loads = [line.split() for line in output('readelf', '-lW', path) if line.split()[:1] == ['LOAD']]
        self.base = int(loads[0][2], 16) & ~0xfff
        self.names = {}
        for line in output('readelf', '-sW', path):
            words = line.split()
            if len(words) >= 8 and words[3] in ('FUNC', 'IFUNC') and words[6] != 'UND':
                self.names[int(words[1], 16)] = words[7].split('@')[0].split('.')[0]
        self.starts = sorted(self.names)

    def function(self, offset):
        address = self.base + offset
        if address in self.names:
            return self.names[address]
        at = bisect.bisect(self.starts, address) - 1
        return '%s+0x%x' % (self.names[self.starts[at]], address - self.starts[at]) if at >= 0 else hex(address)

    def lines(self, offsets):
        """function:line of each call site, asked in one go."""
        missing = [offset for offset in offsets if offset not in self.sites]
        text = ''.join('%x\n' % (self.base + offset - 1) for offset in missing)
        answer = subprocess.run(['addr2line', '-f', '-e', self.path], input=text, capture_output=True, text=True,
                                check=True).stdout.splitlines()
        for i, offset in enumerate(missing):
            where = os.path.basename(answer[2 * i + 1].split(' ')[0])
            self.sites[offset] = '%s %s' % (answer[2 * i].split('.')[0], where)


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ, LC_ALL='C')).stdout.splitlines()


def place(text):
    path, _, offset = text.rpartition('+')
    return path, int(offset, 16)


def read(name):
    """[(thread, [(function, site) or None])], places as (path, offset)."""
    threads, places = [], {}
    with open(name) as stream:
        for line in stream:
            if line.startswith('thread'):
                threads.append((line.strip(), []))
            elif line.startswith('<'):
                threads[-1][1].append(None)
            else:
                if line not in places:
                    _, function, site = line.rstrip('\n').split('\t')
                    places[line] = (place(function), place(site))
                threads[-1][1].append(places[line])
    return threads


class Recording:
    def __init__(self, name, aliases, without):
        self.aliases, self.without, self.binaries = aliases, without, {}
        self.threads = read(name)
        sites = collections.defaultdict(set)
        for _, events in self.threads:
            for event in events:
                if event and self.ours(event[1]):
                    sites[event[1][0]].add(event[1][1])
        for path, offsets in sites.items():
            self.binary(path).lines(offsets)

    def ours(self, where):
        return os.path.basename(where[0]) in self.aliases

    def binary(self, path):
        if path not in self.binaries:
            self.binaries[path] = Binary(path)
        return self.binaries[path]

    def text(self, event):
        function, site = event
        name = self.binary(function[0]).function(function[1])
        if self.ours(site):
            return '%s from %s' % (name, self.binary(site[0]).sites[site[1]])
        return '%s from %s+0x%x' % (name, os.path.basename(site[0]), site[1])

    def sequences(self, mode):
        """A tuple of lines a thread, of the calls that count."""
        out = []
        for _, events in self.threads:
            lines, stack, texts = [], [], {}
            for event in events:
                if event is None:
                    if stack and stack.pop() and mode == 'nesting':
                        lines.append('<')
                    continue
                counts = self.ours(event[0])
                if counts and event not in texts:
                    texts[event] = self.text(event)
                if None in stack or (counts and texts[event].split(' ')[0] in self.without):
                    counts = None
                if counts:
                    lines.append(texts[event])
                stack.append(counts)
            out.append(inside_main(lines, mode))
        return [lines for lines in out if lines]


def inside_main(lines, mode):
    for begin, line in enumerate(lines):
        if line.startswith('main from '):
            break
    else:
        return tuple(lines)
    depth = 0
    for end in range(begin, len(lines)):
        depth += -1 if lines[end] == '<' else 1
        if mode == 'nesting' and depth == 0:
            return tuple(lines[begin:end + 1])
    return tuple(lines[begin:])


def show(truth, tree):
    """Where two sequences part."""
    for at, (a, b) in enumerate(zip(truth, tree)):
        if a != b:
            break
    else:
        at = min(len(truth), len(tree))
    print('differ at event %d of %d (truth), %d (tree):' % (at, len(truth), len(tree)))
    for i in range(max(0, at - 3), at + 4):
        a = truth[i] if i < len(truth) else '(end)'
        b = tree[i] if i < len(tree) else '(end)'
        print('  %s %-60s | %s' % (' ' if a == b else '*', a, b))


def main(mode, truth_name, tree_name, *objects):
    pairs = [tuple((name + '=' + name).split('=')[:2]) for name in objects if name[0] != '-']
    without = {name[1:] for name in objects if name[0] == '-'}
    truth = Recording(truth_name, {a for a, _ in pairs}, without).sequences(mode)
    tree = Recording(tree_name, {b for _, b in pairs}, without).sequences(mode)
    calls = [collections.Counter(line for lines in side for line in lines if line != '<') for side in (truth, tree)]
    print('truth: %d threads, %d calls, %d kinds; tree: %d, %d, %d' % (
        len(truth), sum(calls[0].values()), len(calls[0]), len(tree), sum(calls[1].values()), len(calls[1])))
    if collections.Counter(truth) == collections.Counter(tree) and truth:
        return 0
    for what, more, less in (('missing', *calls), ('too many', *reversed(calls))):
        for line, count in sorted((more - less).items())[:12]:
            print('%s %d (of %d): %s' % (what, count, more[line], line))
    # The threads that have no equal, the longest against the longest.
    rest = [sorted((collections.Counter(a) - collections.Counter(b)).elements(), key=len, reverse=True)
            for a, b in ((truth, tree), (tree, truth))]
    for a, b in list(zip(*rest))[:2]:
        show(a, b)
    return 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
