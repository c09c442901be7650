#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""A controller for the tests: the other end of the agent socket, by hand.

    controller.py PROGRAM ARGS...

Starts PROGRAM with the agent preloaded, and then carries out the commands that
it reads from its standard input, one a line, each answered by one line on its
standard output:

    add ID RULE | add1 ID RULE (one event a call)      rule ID STATUS MATCHED INSTRUMENTED DECLINED
    disable ID | enable ID | remove ID                 the same
    go                                                 go
    detach                                             detached
    status                                             points N entries N exits N lost_entries N lost_exits N ...
    pid                                                PID
    end                                                ended STATUS   (SIGTERM, then its exit status)
    wait                                               ended STATUS   (when it ends by itself)
    peers STATUS READY TEXT                            peers   (what questions for the other end are answered from here on; \\t, \\n)
    tell ID KIND SENDER RECEIVER POSITION PATH|-       told STATUS   (the rule's tree begins with this byte of that channel)

Each question for the other end of a channel is a line in $SPI_TMP/asked: RULES KIND SENDER RECEIVER POSITION DEVICE
PIDS PATH. What payloads write is in $SPI_TMP/said.

It knows nothing but agent-proto.h, whose structures are repeated here on
purpose: a change of the wire format that nobody meant fails this program.
Code maps come from spi-codemap of the build tree.
"""
import fcntl
import mmap
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile

BUILD = os.environ['SPI_TOP_BUILDDIR']
MAGIC, VERSION = 0x31495053, 3
HELLO, MAP_REQUEST, FILE_REQUEST, RULE_DONE, DECLINED, NOTE, DETACHED = range(1, 8)
PEER_REQUEST, CHANNEL_DONE, PEERS, CHANNEL = 14, 15, 78, 79
WELCOME, MAP, FILE, RULE_ADD, RULE_REMOVE, RULE_DISABLE, RULE_ENABLE, DETACH, GO = range(64, 73)
HEADER = struct.Struct('<IHHII')
RULES = struct.Struct('<I16II')
CHANNEL_BODY = struct.Struct('<IIQQQQ48s112sQ8i')
MAP_REQUEST_BODY = struct.Struct('<QQ32sIIII')
COUNTERS = ('entries exits lost_entries lost_exits owed_exits nested_skipped slots_exhausted strings_unreadable '
            'points declined threads').split()
LIBRARIES = {
    'liblttng-spi-tp.so': BUILD + '/tp/.libs/liblttng-spi-tp.so',
}


class Agent:
    """One connection of an agent."""

    def __init__(self, connection):
        self.socket = connection
        self.status = None
        self.next_id = 1000
        self.peers = (-38, 0, '')

    def send(self, kind, ident, body=b'', descriptors=()):
        packet = HEADER.pack(MAGIC, VERSION, kind, ident, len(body)) + body
        socket.send_fds(self.socket, [packet], list(descriptors))

    def receive(self):
        """(type, id, body, descriptors); type None when the agent is gone."""
        packet, fds, _, _ = socket.recv_fds(self.socket, 65536, 4)
        if not packet:
            return None, 0, b'', []
        magic, version, kind, ident, size = HEADER.unpack_from(packet)
        assert (magic, version) == (MAGIC, VERSION), 'agent speaks %#x version %d' % (magic, version)
        assert size == len(packet) - HEADER.size, 'body of %d bytes, said %d' % (len(packet) - HEADER.size, size)
        return kind, ident, packet[HEADER.size:], fds

    def serve_one(self):
        """One message; a question is answered. (type, body), type None when the agent is gone."""
        kind, ident, body, fds = self.receive()
        if kind == HELLO:
            self.status = mmap.mmap(fds[0], 0, mmap.MAP_SHARED, mmap.PROT_READ)
            self.send(WELCOME, ident, struct.pack('<II', 0, 0))
        elif kind == MAP_REQUEST:
            self.answer_map(ident, body)
        elif kind == FILE_REQUEST:
            self.answer_file(ident, body.split(b'\0')[0].decode())
        elif kind == PEER_REQUEST:
            self.answer_peers(ident, body)
        elif kind in (DECLINED, NOTE):
            sys.stderr.write(body.rstrip(b'\0').decode(errors='replace').rstrip('\n') + '\n')
        return kind, body

    def serve(self, wanted):
        """Answer the agent's questions until a message of a wanted type comes."""
        while True:
            kind, body = self.serve_one()
            if kind is None or kind in wanted:
                return kind, body

    def lines(self):
        """What is read from standard input; meanwhile the agent is served: it may load a library."""
        text, sources = b'', [sys.stdin.fileno(), self.socket]
        while True:
            line, end, rest = text.partition(b'\n')
            if end:
                text = rest
                yield line.decode()
                continue
            ready = select.select(sources, [], [])[0]
            if self.socket in ready and self.serve_one()[0] is None:
                sources.remove(self.socket)
            if sys.stdin.fileno() in ready:
                more = os.read(sys.stdin.fileno(), 65536)
                if not more:
                    return
                text += more

    def answer_map(self, ident, body):
        limit, flags = MAP_REQUEST_BODY.unpack_from(body)[4:6]
        if flags & 8:  # SPI_MAP_REQUEST_SOON: the question comes again
            return
        path, patterns = body[MAP_REQUEST_BODY.size:].split(b'\0')[:2]
        output = os.memfd_create('map', os.MFD_ALLOW_SEALING)
        command = [BUILD + '/codemap/spi-codemap', 'map', '--output-fd', str(output)]
        if flags & 2:
            command += ['--tree']
        elif limit:
            command += ['--limit', str(limit)]
        for pattern in patterns.decode().splitlines():
            command += ['--pattern', pattern]
        done = subprocess.run(command + [path.decode()], pass_fds=[output], stderr=subprocess.PIPE)
        if done.returncode:
            # Status 3 is "nothing matches": ENOENT.
            self.send(MAP, ident, struct.pack('<iI', -2 if done.returncode == 3 else -22, 0) + done.stderr + b'\0')
        else:
            seals = fcntl.fcntl(output, fcntl.F_GET_SEALS)
            assert seals & fcntl.F_SEAL_WRITE and seals & fcntl.F_SEAL_SHRINK, 'spi-codemap did not seal its output'
            self.send(MAP, ident, struct.pack('<iI', 0, 0), [output])
        os.close(output)

    def answer_peers(self, ident, body):
        _, count, *rules = struct.unpack_from('<II16I', body)
        channel, sender, receiver, position, path, device, pids = self.channel_of(body[80:])
        with open(os.environ['SPI_TMP'] + '/asked', 'a') as asked:
            print(','.join(map(str, rules[:count])), channel, sender, receiver, position, device, ','.join(map(str, pids)), path,
                  file=asked)
        status, ready, text = self.peers
        self.send(PEERS, ident, struct.pack('<iIIIQ', status, ready, 0, 0, 0) + text.encode() + b'\0')

    @staticmethod
    def channel_of(body):
        kind, _, sender, receiver, position, _, _, path, device, *pids = CHANNEL_BODY.unpack(body)
        return kind, sender, receiver, position, path.split(b'\0')[0].decode(), device, [p for p in pids if p]

    def tell(self, rule, kind, sender, receiver, position, path):
        body = RULES.pack(1, rule, *[0] * 15, 0) + \
            CHANNEL_BODY.pack(kind, 0, sender, receiver, position, 0, bytes(48), path.encode(), 0, *[0] * 8)
        self.next_id += 1
        self.send(CHANNEL, self.next_id, body)
        kind, body = self.serve({CHANNEL_DONE})
        return 'gone' if kind is None else 'told %d' % struct.unpack_from('<i', body)

    def answer_file(self, ident, name):
        if name == 'payload-output':
            fd = os.open(os.environ['SPI_TMP'] + '/said', os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self.send(FILE, ident, struct.pack('<iI', 0, 0), [fd])
            os.close(fd)
            return
        path = LIBRARIES.get(name)
        if not path or not os.path.exists(path):
            self.send(FILE, ident, struct.pack('<iI', -2, 0) + b'not served by the tests\0')
            return
        fd = os.open(path, os.O_RDONLY)
        self.send(FILE, ident, struct.pack('<iI', 0, 0), [fd])
        os.close(fd)

    def rule(self, kind, ident, flags=0, text=''):
        self.next_id += 1
        self.send(kind, self.next_id, struct.pack('<II', ident, flags) + (text.encode() + b'\0' if text else b''))
        kind, body = self.serve({RULE_DONE})
        if kind is None:
            return 'gone'
        number, status, matched, done, declined, _ = struct.unpack_from('<Iiiiii', body)
        return 'rule %d %d %d %d %d' % (number, status, matched, done, declined)

    def counters(self):
        values = list(struct.unpack_from('<11Q', self.status, 8))
        for block in range(struct.unpack_from('<Q', self.status, 96)[0]):
            for i, counter in enumerate(struct.unpack_from('<8Q', self.status, 4096 + 64 * block)):
                values[i] = (values[i] + counter) % 2**64
        return ' '.join('%s %d' % pair for pair in zip(COUNTERS, values))


def main(argv):
    directory = tempfile.mkdtemp(prefix='ctl', dir=os.environ.get('SPI_TMP'))
    path = directory + '/socket'
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    listener.listen(1)
    environment = dict(os.environ, LD_PRELOAD=BUILD + '/liblttng-spi/.libs/liblttng-spi.so.0', LTTNG_SPI_SOCKET=path,
                       LTTNG_SPI_TP=LIBRARIES['liblttng-spi-tp.so'])
    program = subprocess.Popen(argv[1:], env=environment, stdin=subprocess.DEVNULL,
                               stdout=open(os.environ['SPI_TMP'] + '/target.out', 'wb'),
                               stderr=open(os.environ['SPI_TMP'] + '/target.err', 'wb'))
    listener.settimeout(20)
    connection, _ = listener.accept()
    connection.settimeout(30)
    agent = Agent(connection)
    agent.serve({HELLO})
    rules = {'disable': RULE_DISABLE, 'enable': RULE_ENABLE, 'remove': RULE_REMOVE}
    for line in agent.lines():
        word, *rest = line.split(None, 2)
        if word in ('add', 'add1'):
            answer = agent.rule(RULE_ADD, int(rest[0]), 1 if word == 'add1' else 0, rest[1].strip())
        elif word in rules:
            answer = agent.rule(rules[word], int(rest[0]))
        elif word == 'go':
            agent.send(GO, 0)
            answer = 'go'
        elif word == 'detach':
            agent.send(DETACH, 1)
            answer = 'detached' if agent.serve({DETACHED})[0] else 'gone'
        elif word == 'status':
            answer = agent.counters()
        elif word == 'pid':
            answer = str(program.pid)
        elif word == 'end':
            program.send_signal(signal.SIGTERM)
            answer = 'ended %d' % program.wait(30)
        elif word == 'wait':
            agent.serve(set())
            answer = 'ended %d' % program.wait(60)
        elif word == 'peers':
            status, ready, *text = line.split(None, 3)[1:]
            agent.peers = (int(status), int(ready), ''.join(text).replace('\\t', '\t').replace('\\n', '\n'))
            answer = 'peers'
        elif word == 'tell':
            rule, kind, sender, receiver, position, path = line.split(None, 6)[1:]
            answer = agent.tell(int(rule), int(kind), int(sender), int(receiver), int(position), path.lstrip('-'))
        else:
            answer = 'unknown command ' + word
        print(answer, flush=True)
    if program.poll() is None:
        program.kill()
    return 0


sys.exit(main(sys.argv))
