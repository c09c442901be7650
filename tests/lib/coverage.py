#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""How many of an object's functions were not instrumented, against readelf.

    coverage.py OBJECT NOT-INSTRUMENTED [LIMIT-PERCENT]

The whole is the union of FUNC symbols and FDE starts that readelf shows.
NOT-INSTRUMENTED is the file that the front end writes: a line each, with the
reason. Parts of functions that are only jumped into (.cold) and linkage stubs
are no functions of their own, and not in that file: they are read from the code
map, counted apart, and both figures shown. Status 1 when what is lost reaches
LIMIT (1 %) of the whole, or a line has no reason.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

PART, PLT = 6, 7            # enum spi_map_reason
SKIPPED = 96 + 6 * 16       # offset of the span in struct spi_map_header


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


def parts(path):
    """How many entries of the code map's skipped table are parts or linkage stubs."""
    with tempfile.TemporaryDirectory() as directory:
        output = directory + '/map'
        subprocess.run([os.environ['SPI_TOP_BUILDDIR'] + '/codemap/spi-codemap', 'map', '--pattern', '*', '--output', output, path],
                       check=True)
        with open(output, 'rb') as code_map:
            data = code_map.read()
    offset, count, stride = struct.unpack_from('<QII', data, SKIPPED)
    reasons = [struct.unpack_from('<QII', data, offset + i * stride)[2] for i in range(count)]
    return sum(reason in (PART, PLT) for reason in reasons)


def main(path, declined, limit='1'):
    total = len(functions(path))
    lost = unnamed = 0
    apart = parts(path)
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
            lost += 1
    print('%s: %d functions by readelf; not instrumented %d (%.2f %%), and %d parts and linkage stubs (together %.2f %%)'
          % (path, total, lost, 100 * lost / total, apart, 100 * (lost + apart) / total))
    for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
        print('  %6d %s' % (count, reason))
    return 1 if unnamed or 100 * lost / total >= float(limit) else 0


sys.exit(main(*sys.argv[1:]))
