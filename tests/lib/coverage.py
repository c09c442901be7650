#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""How many of an object's functions were not instrumented, against readelf.

    coverage.py OBJECT NOT-INSTRUMENTED [LIMIT-PERCENT]

The whole is the union of FUNC symbols and FDE starts that readelf shows.
NOT-INSTRUMENTED is the file that the front end writes: a line each, with the
reason. Parts of functions that are only jumped into (.cold) and linkage stubs
are no functions of their own: they are counted apart, and both figures shown.
Status 1 when what remains reaches LIMIT (1 %) of the whole, or a line has no
reason.
"""
import re
import subprocess
import sys


def functions(path):
    starts = set()
    symbols = subprocess.run(['readelf', '-sW', path], capture_output=True, text=True).stdout
    for line in symbols.splitlines():
        words = line.split()
        if len(words) >= 8 and words[3] in ('FUNC', 'IFUNC') and words[6] != 'UND':
            starts.add(int(words[1], 16))
    frames = subprocess.run(['readelf', '-wf', path], capture_output=True, text=True).stdout
    starts.update(int(pc, 16) for pc in re.findall(r' FDE .*pc=([0-9a-f]+)\.\.', frames))
    return starts


def main(path, declined, limit='1'):
    total = len(functions(path))
    apart = lost = unnamed = 0
    reasons = {}
    with open(declined, errors='replace') as lines:
        for line in lines:
            line = line.strip()
            if not line or line.startswith('#'):
                continue
            words = line.split('\t')
            reason = words[-1].strip() if len(words) > 1 else ''
            unnamed += not reason
            reasons[reason] = reasons.get(reason, 0) + 1
            if re.search(r'jumped into|linkage stub', reason):
                apart += 1
            else:
                lost += 1
    print('%s: %d functions by readelf; not instrumented %d (%.2f %%), and %d parts and linkage stubs (together %.2f %%)'
          % (path, total, lost, 100 * lost / total, apart, 100 * (lost + apart) / total))
    for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
        print('  %6d %s' % (count, reason))
    return 1 if unnamed or 100 * lost / total >= float(limit) else 0


sys.exit(main(*sys.argv[1:]))
