#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Read gmon.out files without gprof.

gmon.py arcs OBJECT FILE...	the arcs of all files added up, a line each: caller, callee, calls; by the symbols of
				OBJECT. Calls that begin outside of OBJECT are left out, as mcount() leaves them out.
gmon.py outside OBJECT FILE	the same of those calls, for callees that have such
gmon.py hist OBJECT FILE	samples by function
"""
import bisect
import collections
import struct
import subprocess
import sys


def symbols(path):
    """Sorted addresses of functions, and their names."""
    out = {}
    for line in subprocess.run(['nm', '-n', path], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in 'tTwW':
            out.setdefault(int(words[0], 16), words[2])
    table = sorted(out.items())
    return [address for address, _ in table], [name for _, name in table]


def name_of(table, address):
    addresses, names = table
    at = bisect.bisect_right(addresses, address) - 1
    return names[at] if at >= 0 else None


def records(path):
    """The arcs, and the histograms as (low, high, bins)."""
    data = open(path, 'rb').read()
    magic, version = struct.unpack_from('<4sI', data)
    if magic != b'gmon' or version != 1:
        raise SystemExit(f'{path}: not a gmon.out of version 1')
    at, arcs, histograms = 20, [], []
    while at < len(data):
        tag, at = data[at], at + 1
        if tag == 0:
            low, high, count, rate, dimension, letter = struct.unpack_from('<QQII15sc', data, at)
            at += 40
            if rate != 100 or dimension.rstrip(b'\0') != b'seconds' or letter != b's':
                raise SystemExit(f'{path}: a histogram of {rate} {dimension} {letter}')
            histograms.append((low, high, struct.unpack_from(f'<{count}H', data, at)))
            at += 2 * count
        elif tag == 1:
            arcs.append(struct.unpack_from('<QQI', data, at))
            at += 20
        else:
            raise SystemExit(f'{path}: tag {tag} at {at - 1}')
    return arcs, histograms


def main():
    what, table = sys.argv[1], symbols(sys.argv[2])
    counts = collections.Counter()
    for path in sys.argv[3:]:
        arcs, histograms = records(path)
        for caller, callee, calls in arcs if what in ('arcs', 'outside') else ():
            if (caller == 0) == (what == 'outside'):
                name = name_of(table, callee)
                counts[f'{name_of(table, caller)} {name}' if caller else name] += calls
        for low, high, bins in histograms if what == 'hist' else ():
            step = (high - low) / len(bins)
            for i, n in enumerate(bins):
                if n:
                    counts[name_of(table, int(low + i * step))] += n
    for name, n in sorted(counts.items()):
        print(name, n)


main()
