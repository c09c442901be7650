#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Is the code of a running process what its files say?

    text-equal.py PID [NAME]

Compares every executable mapping of PID that belongs to a file (whose name
contains NAME) with that file's bytes, and prints each range that differs.
Status 0 when there is none, 1 when there is, 2 when nothing could be compared.
"""
import os
import re
import sys

MAPPING = re.compile(r'^([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ (\d+) +(/.*)$')


def main(pid, name=''):
    compared = differ = 0
    with open('/proc/%s/maps' % pid) as maps, open('/proc/%s/mem' % pid, 'rb', 0) as memory:
        for line in maps:
            match = MAPPING.match(line)
            if not match or 'x' not in match[3] or name not in match[6]:
                continue
            low, high, offset = (int(match[i], 16) for i in (1, 2, 4))
            # Memory of the tracer itself is shared.
            if match[6].startswith(('/memfd:', '/dev/zero')):
                continue
            # The mapped file itself, whatever its name means in which namespace; without the right to that, by name.
            path = '/proc/%s/map_files/%x-%x' % (pid, low, high)
            if not os.access(path, os.R_OK):
                path = '/proc/%s/root%s' % (pid, match[6])
            if not os.path.exists(path) or os.stat(path).st_ino != int(match[5]):
                continue
            memory.seek(low)
            code = memory.read(high - low)
            with open(path, 'rb') as file:
                file.seek(offset)
                wanted = file.read(high - low)
            compared += len(wanted)
            if code[:len(wanted)] == wanted:
                continue
            where = [i for i in range(len(wanted)) if code[i] != wanted[i]]
            differ += len(where)
            print('%s: %d bytes differ, first at file offset %#x: %s, file has %s'
                  % (match[6], len(where), offset + where[0],
                     code[where[0]:where[0] + 8].hex(), wanted[where[0]:where[0] + 8].hex()))
    print('compared %d bytes, %d differ' % (compared, differ))
    return 1 if differ else 0 if compared else 2


sys.exit(main(*sys.argv[1:]))
