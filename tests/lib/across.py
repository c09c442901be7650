#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""across.py DIR CLIENT [SERVER...] - does the trace have the messages of these processes, and only these?

A line "ok", or what is wrong: another process whose calls or messages are in the trace; one whose first message is not a receive of bytes that were sent after its
peer was asked for; a receive that is not exactly what the sends before it have sent.
"""
import collections
import re
import subprocess
import sys

EVENT = re.compile(r'spi_ipc:(send|recv): .*vpid = (\d+).*\{ (channel = .*) \}$')


def main():
    directory, client, servers = sys.argv[1], int(sys.argv[2]), set(map(int, sys.argv[3:]))
    lines = subprocess.run(['babeltrace2', directory], capture_output=True, text=True, check=True).stdout.splitlines()
    calls = re.compile(r' (?:spi_ipc|lttng_ust_cyg_profile|spi_tree):.*vpid = (\d+)')
    pids = {int(found[1]) for found in map(calls.search, lines) if found}
    if pids != servers | {client}:
        sys.exit(f'processes {sorted(pids)} instead of {sorted(servers | {client})}')
    sent, received, first = collections.defaultdict(list), collections.defaultdict(list), {}
    for line in lines:
        found = EVENT.search(line)
        if not found:
            continue
        fields = {k: int(v, 0) for k, v in re.findall(r'(\w+) = ([^, ]+)', found[3])}
        first.setdefault(int(found[2]), (found[1], fields))
        (sent if found[1] == 'send' else received)[fields['channel']].append(fields)
    for pid in servers:
        kind, fields = first.get(pid, ('nothing', None))
        if kind != 'recv':
            sys.exit(f'the first message of {pid} is {kind}')
        begin = [f for f in sent[fields['channel']] if f['flags'] & 16]
        if not begin or fields['position'] != begin[0]['position']:
            sys.exit(f'{pid} begins with {fields}, the sender with {begin}')
    if set(sent) != set(received):
        sys.exit(f'channels sent on {sorted(sent)}, received from {sorted(received)}')
    for channel, messages in received.items():
        if any(f['flags'] & 14 for f in messages + sent[channel]):
            sys.exit(f'not sure: {messages} {sent[channel]}')
        if messages[0]['flags'] & 1:
            if [(f['position'], f['result']) for f in messages] != [(f['position'], f['result']) for f in sent[channel]]:
                sys.exit(f'datagrams {messages} of {sent[channel]}')
            continue
        for parts in messages, sent[channel]:
            at = parts[0]['position']
            for f in parts:
                if f['position'] != at:
                    sys.exit(f'{f} is not at {at}')
                at += f['result']
        if at != messages[-1]['position'] + messages[-1]['result'] or messages[0]['position'] != sent[channel][0]['position']:
            sys.exit(f'received {messages} of {sent[channel]}')
    print('ok')


main()
