#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""A trace of messages, as a script says: flow-trace.py DIRECTORY [HOST [CLOCK-OFFSET-US]] < SCRIPT

Lines of the script, in order of time; TIME, in us, is when an operation returns:

    TIME PROCESS[.THREAD] send|recv CHANNEL POSITION BYTES [took=US] [flags=N]
    TIME PROCESS[.THREAD] channel CHANNEL send|recv KIND FROM TO INODE
    TIME PROCESS[.THREAD] peer CHANNEL PID NAME STATUS REASON TOOK-US
    TIME lost N

A process is a name with a number, its pid: client12. flow-trace.py many N DIRECTORY: N messages of three processes.
"""
import hashlib
import os
import re
import struct
import sys
import uuid

METADATA = '''/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = true; } := int64_t;
typealias integer { size = 64; align = 8; signed = false; base = 16; } := hex64_t;
trace { major = 1; minor = 8; uuid = "%(uuid)s"; byte_order = le;
	packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; }; };
env { hostname = "%(host)s"; domain = "ust"; tracer_name = "lttng-ust"; };
clock { name = monotonic; freq = 1000000000; offset = %(offset)d; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time_t;
stream { id = 0;
	packet.context := struct { time_t timestamp_begin; time_t timestamp_end; uint64_t content_size;
		uint64_t packet_size; uint64_t events_discarded; };
	event.header := struct { uint32_t id; time_t timestamp; };
	event.context := struct { int32_t _vpid; int32_t _vtid; }; };
event { name = "spi_ipc:send"; id = 0; stream_id = 0; fields := struct { hex64_t _channel; uint64_t _position;
	uint64_t _length; int64_t _result; uint64_t _took; int32_t _fd; hex64_t _flags; }; };
event { name = "spi_ipc:recv"; id = 1; stream_id = 0; fields := struct { hex64_t _channel; uint64_t _position;
	uint64_t _length; int64_t _result; uint64_t _took; int32_t _fd; hex64_t _flags; }; };
event { name = "spi_ipc:channel"; id = 2; stream_id = 0; fields := struct { hex64_t _channel; int32_t _fd;
	string _kind; string _direction; string _from; string _to; uint64_t _inode; }; };
event { name = "spi_ipc:peer"; id = 3; stream_id = 0; fields := struct { hex64_t _channel; int32_t _pid;
	string _name; int32_t _status; string _reason; uint64_t _took; }; };
event { name = "lttng_ust_statedump:procname"; id = 4; stream_id = 0; fields := struct { string _procname; }; };
'''
BEGIN_NS = 1_800_000_000 * 10**9


def number(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], 'little')


def string(text):
    return text.encode() + b'\0'


class Trace:
    """One directory: a stream, whose packets end where events are lost."""

    def __init__(self, directory, host='here', offset_us=0):
        os.makedirs(directory)
        self.uuid = uuid.uuid5(uuid.NAMESPACE_URL, directory + host)
        with open(directory + '/metadata', 'w', encoding='ascii') as file:
            file.write(METADATA % {'uuid': self.uuid, 'host': host, 'offset': BEGIN_NS + offset_us * 1000})
        self.file = open(directory + '/stream', 'wb')
        self.events, self.first, self.last, self.lost, self.known = [], None, 0, 0, set()

    def event(self, us, process, kind, fields):
        name, pid, tid = re.fullmatch(r'([a-z-]*)(\d+)(?:\.(\d+))?', process).groups()
        pid, tid = int(pid), int(tid or pid)
        if pid not in self.known:
            self.known.add(pid)
            self.event(us, f'{pid}', 4, string(name))
        ns = round(us * 1000)
        self.first = ns if self.first is None else self.first
        self.last = ns
        self.events.append(struct.pack('<IQii', kind, ns, pid, tid) + fields)

    def packet(self):
        content = b''.join(self.events)
        bits = (4 + 16 + 4 + 5 * 8 + len(content)) * 8
        self.file.write(struct.pack('<I16sIQQQQQ', 0xc1fc1fc1, self.uuid.bytes, 0, self.last if self.first is None else self.first, self.last, bits,
                                    bits, self.lost) + content)
        self.events, self.first = [], None

    def operation(self, us, process, way, channel, position, count, took=0, flags=0):
        if int(flags) & 1:	# of a datagram: what is in it
            position = number(position)
        self.event(us, process, 0 if way == 'send' else 1, struct.pack(
            '<QQQqQiQ', number(channel), int(position), int(count), int(count), round(float(took) * 1000), 3, int(flags)))
        if len(self.events) >= 10000:
            self.packet()

    def line(self, words):
        us, process, what, rest = float(words[0]), words[1], words[2], words[3:]
        if process == 'lost':
            self.packet()
            self.last = round(us * 1000)
            self.lost += int(what)
            self.packet()
        elif what == 'channel':
            channel, way, kind, one, other, inode = rest
            self.event(us, process, 2, struct.pack('<Qi', number(channel), 3) + string(kind) + string(way) +
                       string(one) + string(other) + struct.pack('<Q', int(inode)))
        elif what == 'peer':
            channel, pid, name, status, reason, took = rest
            self.event(us, process, 3, struct.pack('<Qi', number(channel), int(pid)) + string(name) +
                       struct.pack('<i', int(status)) + string(reason.replace('_', ' ')) +
                       struct.pack('<Q', round(float(took) * 1000)))
        else:
            options = dict(word.split('=') for word in rest[3:])
            self.operation(us, process, what, *rest[:3], **options)

    def close(self):
        self.packet()
        self.file.close()


def many(count, directory):
    """A client's requests to a server, which asks a third process each second time: 64 bytes a message."""
    trace = Trace(directory)
    at, us = {'in': 0, 'out': 0, 'there': 0, 'back': 0}, 0
    for name, one, other in (('in', 'client1', 'server2'), ('out', 'server2', 'client1'), ('there', 'server2', 'store3'),
                             ('back', 'store3', 'server2')):
        trace.line(f'0 {one} channel {name} send pipe - - 1'.split())
        trace.line(f'0 {other} channel {name} recv pipe - - 1'.split())

    def message(name, one, other):
        nonlocal us
        us += 3
        trace.operation(us - 1, one, 'send', name, at[name], 64, 1)
        trace.operation(us, other, 'recv', name, at[name], 64, 1)
        at[name] += 64
    for i in range(count // 3):
        message('in', 'client1', 'server2')
        if i % 2:
            message('there', 'server2', 'store3')
            message('back', 'store3', 'server2')
        message('out', 'server2', 'client1')
    trace.close()


def main():
    if sys.argv[1] == 'many':
        many(int(sys.argv[2]), sys.argv[3])
        return
    trace = Trace(sys.argv[1], *sys.argv[2:3], *map(int, sys.argv[3:4]))
    for line in sys.stdin:
        words = line.split('#')[0].split()
        if words:
            trace.line(words)
    trace.close()


if __name__ == '__main__':
    main()
