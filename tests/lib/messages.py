#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""messages.py DIR LOG [KIND] - are the messages of a trace those that tests/programs/messages.c has logged?

A line "ok CHANNELS MESSAGES", or what is wrong.
"""
import collections
import re
import subprocess
import sys

EVENT = re.compile(r'spi_ipc:(\w+): .*vpid = (\d+).*\{ (channel = .*) \}$')


def events(directory):
    lines = subprocess.run(['babeltrace2', directory], capture_output=True, text=True, check=True).stdout.splitlines()
    for line in lines:
        found = EVENT.search(line)
        if found:
            fields = dict(re.findall(r'(\w+) = ("[^"]*"|[^, ]+)', found[3]))
            yield found[1], int(found[2]), {k: v.strip('"') if v[0] == '"' else int(v, 0) for k, v in fields.items()}


def logged(path):
    return [tuple(map(int, line.split())) for line in open(path)]


def main():
    directory, log = sys.argv[1:3]
    kind = sys.argv[3] if len(sys.argv) > 3 else None
    described, seen = {}, {'send': collections.defaultdict(list), 'recv': collections.defaultdict(list)}
    for name, pid, fields in events(directory):
        if name == 'channel':
            described[fields['channel'], fields['direction']] = fields
        elif name in seen:
            seen[name][fields['channel']].append(fields)
    ids = [channel for channel in seen['send'] if channel in seen['recv']]
    if len(ids) != 1:
        sys.exit(f'channels with both ends: {len(ids)} of {len(seen["send"])} and {len(seen["recv"])}: {described}')
    numbers = {}
    for end in 'send', 'recv':
        truth, have = logged(f'{log}.{end}'), seen[end][ids[0]]
        if kind and described[ids[0], end]['kind'] != kind:
            sys.exit(f'{end}: kind {described[ids[0], end]["kind"]}')
        if len(truth) != len(have):
            sys.exit(f'{end}: {len(have)} messages of {len(truth)}')
        for (at, size), fields in zip(truth, have):
            is_datagram = fields['flags'] & 1
            if fields['result'] != size or fields['flags'] & 14:
                sys.exit(f'{end}: {fields} instead of {at} {size}')
            if not is_datagram and fields['position'] != at:
                sys.exit(f'{end}: {fields} instead of {at} {size}')
            if is_datagram and numbers.setdefault(at, fields['position']) != fields['position']:
                sys.exit(f'{end}: message {at} has another hash: {fields}')
    if numbers and len(set(numbers.values())) != len(numbers):
        sys.exit('two messages have one hash')
    print('ok', len(ids), len(seen['send'][ids[0]]))


main()
