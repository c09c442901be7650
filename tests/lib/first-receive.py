#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""first-receive.py DIR LOGS - does each server's record begin with the receive that has the message, by the server's own log?

Prints "RIGHT of SERVERS", then what is wrong, a line a server.
"""
import collections
import os
import re
import subprocess
import sys

EVENT = re.compile(r' spi_ipc:recv: .*vpid = (\d+).* result = (\d+)')


def main():
    directory, logs = sys.argv[1:]
    text = subprocess.run(['babeltrace2', directory], capture_output=True, text=True, check=True).stdout
    have = collections.defaultdict(list)
    for line in text.splitlines():
        found = EVENT.search(line)
        if found:
            have[found[1]].append(int(found[2]))
    wrong = []
    for pid in sorted(os.listdir(logs), key=int):
        log = [line.split() for line in open(f'{logs}/{pid}')]
        begin = next((i for i, line in enumerate(log) if line[-1] == 'here'), None)
        if begin is None:
            wrong.append(f'{pid}: the message did not come')
        elif have[pid] != [int(line[2]) for line in log[begin:]]:
            peer = re.findall(rf'spi_ipc:peer: .*pid = {pid}, .*', text)
            wrong.append(f'{pid}: {len(have[pid])} receives of {len(log) - begin}; {peer}; {have[pid][:5]} {log[begin:begin + 5]}')
    print(f'{len(os.listdir(logs)) - len(wrong)} of {len(os.listdir(logs))}')
    print('\n'.join(wrong[:5]), end='')


main()
