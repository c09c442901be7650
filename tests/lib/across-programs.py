#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""What the trace of programs that talk has to say, and the truth beside it.

across-programs.py traced DIR		who sent to whom, by `lttng-spi flow`: lines "FROM > TO KIND MESSAGES BYTES"
across-programs.py truth FILE...	the same, by `strace -f -Y -yy -o FILE` of the programs
across-programs.py sure DIR		"sure", or the counts of what was not matched, not sure, late or lost
across-programs.py pids DIR		the processes with calls or messages in a trace
across-programs.py names DIR		their names
across-programs.py wire FILE		what tcpdump has seen: a line "PROTOCOL up|down BYTES HASH PORT" for each direction, PORT the server's; what differs from run to
					run by itself (HTTP's date, a PostgreSQL backend's key) is left out of the hash
across-programs.py state PID...		the processes' descriptors and what they do with signals
"""
import collections
import hashlib
import json
import os
import re
import struct
import subprocess
import sys

SENDS = 'write writev sendto sendmsg sendmmsg sendfile'.split()
RECEIVES = 'read readv recvfrom recvmsg recvmmsg'.split()


def flow(directory):
    done = subprocess.run([os.environ['SPI_TOP_BUILDDIR'] + '/reader/lttng-spi', 'flow', '--json', directory], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def edges_write(edges):
    for (who, whom, kind), (messages, size) in sorted(edges.items()):
        print(f'{who} > {whom} {kind} {messages} {size}')


def traced(directory):
    edges = collections.defaultdict(lambda: [0, 0])
    for edge in flow(directory)['edges']:
        at = edges[edge['from']['name'], edge['to']['name'], edge['kind']]
        at[0] += edge['messages']
        at[1] += edge['bytes']
    edges_write(edges)


def sure(directory):
    counts = flow(directory)['counts']
    # A thread that had to wait between a call and its event is no loss ("negative").
    bad = {name: counts[name] for name in counts if counts[name] and name not in ('sends', 'receives', 'messages', 'negative')}
    print(bad or 'sure')


def lines_of(path):
    """(process, name, call, arguments, result), with what another process has cut in two put together."""
    halves = {}
    for line in open(path, errors='replace'):
        found = re.match(r'(\d+)<(.*?)> +(.*)$', line)
        if not found:
            continue
        pid, name, rest = found.groups()
        if rest.endswith('<unfinished ...>'):
            halves[pid] = rest[:-len('<unfinished ...>')]
            continue
        resumed = re.match(r'<\.\.\. \w+ resumed>(.*)$', rest)
        if resumed:
            rest = halves.pop(pid, '') + resumed[1]
        found = re.match(r'(\w+)\((.*)\) += (-?\d+)', rest)
        if found:
            yield pid, name, found[1], found[2], int(found[3])


def channel(arguments, is_send):
    found = re.match(r'\d+<(TCP|TCPv6|UDP|UDPv6|UNIX-STREAM|UNIX|pipe):\[([^]]*)\]', arguments)
    if not found:
        return None
    kind, ends = found[1].lower().replace('v6', '').replace('unix-stream', 'unix'), found[2]
    if kind == 'pipe':
        return kind, ends
    if kind == 'udp':
        to = re.search(r'sin6?_port=htons\((\d+)\)', arguments) if is_send else None
        ends = ends.split('->')
        return kind, to[1] if to else ends[-1 if is_send else 0].rsplit(':', 1)[1]
    ends = ends.split(',')[0].split('->')
    if kind == 'unix':	# one that is not accepted yet has no other end
        return (kind, ends[0 if is_send else -1])
    return (kind, *(ends if is_send else reversed(ends))) if len(ends) == 2 else None


def truth(paths):
    sent, receivers = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(set)
    for path in paths:
        for pid, name, call, arguments, result in lines_of(path):
            if result <= 0 or call not in SENDS + RECEIVES:
                continue
            which = channel(arguments, call in SENDS)
            if not which:
                continue
            if call in SENDS:
                sent[which, name][0] += 1
                sent[which, name][1] += result
            else:
                receivers[which].add(name)
    edges = collections.defaultdict(lambda: [0, 0])
    for (which, name), (messages, size) in sent.items():
        for receiver in receivers[which]:
            edges[name, receiver, which[0]][0] += messages
            edges[name, receiver, which[0]][1] += size
    edges_write(edges)


def processes(directory):
    """Those with calls or messages, and their last names."""
    text = subprocess.run(['babeltrace2', directory], capture_output=True, text=True, check=True).stdout
    names = dict(re.findall(r' lttng_ust_statedump:procname:.*vpid = (\d+).*procname = "([^"]*)"', text))
    return {int(pid): names.get(pid, '?') for pid in re.findall(r' (?:spi_ipc|lttng_ust_cyg_profile|spi_tree):.*vpid = (\d+)', text)}


def pids(directory):
    print(*sorted(processes(directory)))


def names(directory):
    print(*sorted(processes(directory).values()))


def wire(path):
    data = open(path, 'rb').read()
    streams = {}
    at = 24
    while at + 16 <= len(data):
        size = struct.unpack_from('<I', data, at + 8)[0]
        packet = data[at + 16 + 14:at + 16 + size]
        at += 16 + size
        if len(packet) < 28 or packet[0] >> 4 != 4 or packet[9] not in (6, 17):
            continue
        header, whole, protocol = (packet[0] & 15) * 4, struct.unpack_from('>H', packet, 2)[0], packet[9]
        ports = struct.unpack_from('>HH', packet, header)
        payload = packet[header + (8 if protocol == 17 else (packet[header + 12] >> 4) * 4):whole]
        sequence = struct.unpack_from('>I', packet, header + 4)[0]
        if protocol == 6 and packet[header + 13] & 2:
            streams[protocol, ports] = [sequence + 1, {}]
        elif payload:
            stream = streams.setdefault((protocol, ports), [0, {}])
            where = (sequence - stream[0]) & 0xffffffff if protocol == 6 else len(stream[1])
            stream[1][where] = max(payload, stream[1].get(where, b''), key=len)
    lines = []
    for (protocol, ports), (_, parts) in streams.items():
        text = b''.join(parts[where] for where in sorted(parts))
        for own in rb'\r\n(?:Date|Last-Modified|ETag): [^\r]*', rb'K\0\0\0\x0c.{8}':
            text = re.sub(own, b'', text, flags=re.DOTALL)
        lines.append(f'{protocol} {"down" if ports[0] < ports[1] else "up"} {len(text)} {hashlib.sha256(text).hexdigest()[:16]} {min(ports)}')
    print('\n'.join(sorted(lines)))


def state(processes):
    for pid in processes:
        for fd in sorted(map(int, os.listdir(f'/proc/{pid}/fd'))):
            print(pid, fd, re.sub(r'\[\d+\]', '', os.readlink(f'/proc/{pid}/fd/{fd}')))
        print(pid, *re.findall(r'^(?:SigBlk|SigIgn|SigCgt|TracerPid):\s*\S+', open(f'/proc/{pid}/status').read(), re.MULTILINE))


def main():
    what, rest = sys.argv[1], sys.argv[2:]
    if what in ('truth', 'state'):
        {'truth': truth, 'state': state}[what](rest)
    else:
        {'traced': traced, 'sure': sure, 'pids': pids, 'names': names, 'wire': wire}[what](rest[0])


main()
