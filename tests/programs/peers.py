#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""
Two processes and a channel between them, as agents that speak for themselves. peers.py SOCKET KIND [OPTION]...

The sender asks the broker which process is at the other end, and prints the answer, with "receiver" for the receiver's number
and "sender" for its own, each after a word: "status 0 ready 1 refused 0 late 0 inode right", then the lines. What the
receiver is told is printed, too. KIND: see CHANNELS. OPTIONs:

  plain       the receiver has no agent
  mute        its agent does not answer what it is told
  user=UID    the receiver is that user's; sender=UID: the sender
  twice       the sender asks again
  again=MS    and again, with this deadline
  receiver    the receiver asks, and its answer is printed
  foreign     the sender names a socket that it does not have
  wrong       the sender names no rule that it has
  flood=N     the sender asks N times before it hears the first answer, and prints how many were refused for that
  times=N     the sender asks N times, one after the other, and prints the median in us
  apart       both are in another network namespace
  copy=FILE   the receiver is that program, which waits for lines (lines.c)
  hold        all stays until a line comes
  more=N      N further processes have the receiver's end, with other=FILE that program
  alone       the sender has both ends, and there is nobody else
  deadline=MS
"""
import ctypes
import os
import select
import socket
import struct
import subprocess
import sys
import time


def print(*words, flush=True):
    """A line in one write: parent and child, and threads, say theirs at the same time."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())

MAGIC = 0x31495053
HELLO, RULE_DONE, PEER_REQUEST, CHANNEL_DONE = 1, 4, 14, 15
WELCOME, RULE_ADD, RULES_KEEP, PEERS, CHANNEL = 64, 67, 76, 78, 79
PIPE, UNIX_STREAM, UNIX_DATAGRAM, TCP, UDP = range(1, 6)


class Agent:
    def __init__(self, path, flags):
        self.s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.s.connect(path)
        self.rules = {}
        self.answers = []
        start = int(open("/proc/self/stat").read().rpartition(")")[2].split()[19])
        self.send(HELLO, struct.pack("iIQ", os.getpid(), flags, start) + os.readlink("/proc/self/exe").encode() + b"\0\0")

    def send(self, kind, body, ident=1):
        self.s.send(struct.pack("IHHII", MAGIC, 3, kind, ident, len(body)) + body)

    def hear(self, seconds, mute=False):
        """One message, acted on. Its kind; None: nothing came."""
        if not select.select([self.s], [], [], seconds)[0]:
            return None
        data, fds, _, _ = socket.recv_fds(self.s, 65536, 4)
        for fd in fds:
            os.close(fd)
        if len(data) < 16:
            sys.exit("the broker has closed the connection")
        _, _, kind, ident, _ = struct.unpack("IHHII", data[:16])
        body = data[16:]
        if 67 <= kind <= 70 or kind == RULES_KEEP:
            rule = struct.unpack("I", body[:4])[0] if kind != RULES_KEEP else 0
            if kind == RULE_ADD:
                self.rules[rule] = body[8:].rstrip(b"\0").decode()
            self.send(RULE_DONE, struct.pack("IiIIII", rule, 0, 1, 1, 0, 0) + b"\0", ident)
        elif kind == CHANNEL:
            number, first = struct.unpack("II", body[:8])
            channel = body[72:]
            print("told", number, "on-message" if "on-message" in self.rules[first] else "plain",
                  "position", struct.unpack("Q", channel[24:32])[0], flush=True)
            if not mute:
                self.send(CHANNEL_DONE, struct.pack("iI", 0, 0), ident)
        elif kind == PEERS:
            self.answers.append((ident, body))
        return kind

    def answer(self, seconds=12):
        end = time.monotonic() + seconds
        while not self.answers and time.monotonic() < end:
            self.hear(end - time.monotonic())
        if not self.answers:
            sys.exit("no answer")
        return self.answers.pop(0)


def address(sockaddr, family):
    if not sockaddr:
        return bytes(24)
    return socket.inet_pton(family, sockaddr[0]).ljust(16, b"\0") + struct.pack("HHI", sockaddr[1], family, 0)


class Channel:
    """`ours` is the sender's end, `theirs` what the receiver has: descriptors. `keep` stays open in both."""

    def __init__(self, kind, ours, theirs, path="", inode=True, addresses=None, datagram=False):
        self.kind, self.ours, self.theirs, self.path, self.addresses = kind, ours, theirs, path, addresses
        self.inode = os.fstat(theirs[0]).st_ino if inode else 0

    def body(self, own, flags, rules, deadline, by_receiver=False):
        sender, receiver = (0, own) if by_receiver else (own, own if self.kind == PIPE else 0)
        family = self.addresses[0] if self.addresses else 0
        ends = [address(a, family) for a in self.addresses[1:]] if self.addresses else [bytes(24)] * 2
        return struct.pack("II16III", flags, len(rules), *(rules + [0] * 16)[:16], deadline, 0) + \
            struct.pack("IIQQQQ", self.kind, 0, sender, receiver, 4711, 10) + ends[0] + ends[1] + \
            self.path.encode().ljust(112, b"\0") + bytes(40)


def fds(*files):
    return [f if isinstance(f, int) else f.detach() for f in files]


def pipe():
    r, w = os.pipe()
    return Channel(PIPE, [w], [r])


def fifo():
    os.mkfifo("fifo")
    r = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK)
    return Channel(PIPE, [os.open("fifo", os.O_WRONLY)], [r])


def unix(accepts=True, kind=socket.SOCK_STREAM, name="stream"):
    listener = socket.socket(socket.AF_UNIX, kind)
    listener.bind(name)
    listener.listen(5)
    c = socket.socket(socket.AF_UNIX, kind)
    c.connect(name)
    theirs = fds(listener.accept()[0], listener) if accepts else fds(listener)
    return Channel(UNIX_STREAM, fds(c), theirs, inode=accepts)


def pair():
    a, b = socket.socketpair()
    return Channel(UNIX_STREAM, fds(a), fds(b))


def datagram(name, connects=False):
    r = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    r.bind(name)
    w = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    if connects:
        w.connect(name)
    path = "" if connects else name.replace("\0", "@") if name[0] == "\0" else name
    return Channel(UNIX_DATAGRAM, fds(w), fds(r), path=path)


def tcp(listens_at, connects_to, accepts=True, dual=False, reuse=False):
    family = socket.AF_INET6 if ":" in listens_at else socket.AF_INET
    listeners = []
    for _ in range(3 if reuse else 1):
        listener = socket.socket(family)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, not dual)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, reuse)
        listener.bind((listens_at, listeners[0].getsockname()[1] if listeners else 0))
        listener.listen(5)
        listeners.append(listener)
    c = socket.create_connection((connects_to, listeners[0].getsockname()[1]))
    own, other = c.getsockname()[:2], c.getpeername()[:2]
    theirs = fds(listeners[0].accept()[0], *listeners) if accepts else fds(*listeners)
    return Channel(TCP, fds(c), theirs, inode=accepts, addresses=(c.family, own, other))


def mapped():
    """The client's socket is of IPv6 as well."""
    listener = socket.socket(socket.AF_INET6)
    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, False)
    listener.bind(("::", 0))
    listener.listen(5)
    c = socket.socket(socket.AF_INET6)
    c.connect(("::ffff:127.0.0.1", listener.getsockname()[1]))
    addresses = (socket.AF_INET6, c.getsockname()[:2], c.getpeername()[:2])
    return Channel(TCP, fds(c), fds(listener.accept()[0], listener), addresses=addresses)


def udp(at, to, connects=False, receiver_connects=False, is_nobody=False):
    family = socket.AF_INET6 if ":" in to else socket.AF_INET
    r = socket.socket(socket.AF_INET6 if ":" in at else family, socket.SOCK_DGRAM)
    r.bind((at, 0))
    w = socket.socket(family, socket.SOCK_DGRAM)
    peer = (to, r.getsockname()[1])
    if connects:
        w.connect(peer)
    else:
        w.sendto(b"", peer)
    if receiver_connects:
        r.connect((to, w.getsockname()[1]))
    addresses = (family, w.getsockname()[:2], (to, 9) if is_nobody else peer)
    return Channel(UDP, fds(w), fds(r), addresses=addresses)


CHANNELS = {
    "pipe": pipe, "fifo": fifo, "unix": unix, "waiting": lambda: unix(False, name="waiting"),
    "abstract": lambda: unix(name="\0peers"), "seqpacket": lambda: unix(kind=socket.SOCK_SEQPACKET, name="seqpacket"),
    "pair": pair, "datagram": lambda: datagram("datagram"), "absolute": lambda: datagram(os.path.abspath("absolute")),
    "abstract-datagram": lambda: datagram("\0peers-datagram"), "connected-datagram": lambda: datagram("connected", True),
    "tcp": lambda: tcp("127.0.0.1", "127.0.0.1"), "tcp6": lambda: tcp("::1", "::1"),
    "wildcard": lambda: tcp("0.0.0.0", "127.0.0.2"), "dual": lambda: tcp("::", "127.0.0.1", dual=True), "mapped": mapped,
    "listening": lambda: tcp("0.0.0.0", "127.0.0.1", False), "listening-dual": lambda: tcp("::", "127.0.0.1", False, True),
    "listening-6": lambda: tcp("::", "::1", False), "reuse": lambda: tcp("127.0.0.1", "127.0.0.1", False, reuse=True),
    "udp": lambda: udp("127.0.0.1", "127.0.0.1"), "udp-wildcard": lambda: udp("0.0.0.0", "127.0.0.1"),
    "udp-dual": lambda: udp("::", "127.0.0.1"), "udp6": lambda: udp("::1", "::1"),
    "udp-connected": lambda: udp("127.0.0.1", "127.0.0.1", True, True),
    "udp-nobody": lambda: udp("127.0.0.1", "127.0.0.1", is_nobody=True),
    "nobody": lambda: Channel(TCP, fds(socket.socket()), fds(socket.socket()),
                              addresses=(socket.AF_INET, ("127.0.0.1", 1), ("127.0.0.1", 2))),
}


def options():
    found = {}
    for word in sys.argv[3:]:
        name, _, value = word.partition("=")
        found[name] = value or True
    return found


def become(uid):
    if uid:
        os.setgroups([])
        os.setresgid(int(uid), int(uid), int(uid))
        os.setresuid(int(uid), int(uid), int(uid))


def serve(agent, until, mute):
    """Until the other process wants no more, which has the end of a pipe."""
    while True:
        ready = select.select([agent.s, until] if agent else [until], [], [])[0]
        if until in ready:
            return
        agent.hear(0, mute)


def receive(channel, o, until, done, asks):
    for fd in channel.ours:
        os.close(fd)
    become(o.get("user"))
    if o.get("copy"):		# a program that waits for its input, with the descriptors
        os.dup2(until, 0)
        for fd in channel.theirs:
            os.set_inheritable(fd, True)
        os.write(done, b"x")
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        os.execv(o["copy"], [o["copy"], "3", "wait"])
    agent = None if "plain" in o else Agent(sys.argv[1], 0)
    while agent and agent.hear(10) != WELCOME:
        pass
    os.write(done, b"x")
    serve(agent, until, "mute" in o)
    if asks:
        own = os.fstat(channel.theirs[0]).st_ino
        agent.send(PEER_REQUEST, channel.body(own, 1, [], 2000, True), 9)
        status, _, _, _, inode = struct.unpack("iIIIQ", agent.answer()[1][:24])
        print("the receiver hears", status, "right" if inode == asks else inode, flush=True)


def show(answer, channel, names):
    status, ready, refused, late, inode = struct.unpack("iIIIQ", answer[1][:24])
    print("status", status, "ready", ready, "refused", refused, "late", late, "inode",
          "right" if inode == channel.inode else inode)
    for line in answer[1][24:].rstrip(b"\0").decode().splitlines():
        pid, _, rest = line.partition("\t")
        print(names.get(int(pid), pid) + "\t" + rest, flush=True)


def ask(agent, body, ident=3):
    agent.send(PEER_REQUEST, body, ident)
    return agent.answer()


def main():
    o = options()
    if "apart" in o:
        ctypes.CDLL(None).unshare(0x40000000)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    channel = CHANNELS[sys.argv[2]]()
    own = os.fstat(channel.ours[0]).st_ino
    until, stop = os.pipe()
    ready, done = os.pipe()
    names, children = {os.getpid(): "sender"}, []
    for i in range(0 if "alone" in o else 1 + int(o.get("more", 0))):
        pid = os.fork()
        if not pid:
            os.close(stop)
            receive(channel, o if not i else dict(o, plain=True, copy=o.get("other")), until, done, own if "receiver" in o and not i else 0)
            os._exit(0)
        children.append(pid)
        names[pid] = "receiver" if not i else "another"
        os.read(ready, 1)
        while o.get("other" if i else "copy") and os.readlink(f"/proc/{pid}/exe") == os.readlink("/proc/self/exe"):
            select.select([], [], [], 0.002)
    if "alone" not in o:
        for fd in channel.theirs:
            os.close(fd)
    become(o.get("sender"))
    agent = Agent(sys.argv[1], 1)
    while not agent.rules:
        if agent.hear(10) is None:
            sys.exit("no rule")
    named = [1, 2] if "wrong" in o else sorted(agent.rules)
    body = channel.body(own if "foreign" not in o else os.stat("/").st_ino, 0, named, int(o.get("deadline", 2000)))
    if "flood" in o:
        for i in range(int(o["flood"])):
            agent.send(PEER_REQUEST, body, i)
        statuses = [struct.unpack("i", agent.answer()[1][:4])[0] for _ in range(int(o["flood"]))]
        print("refused", statuses.count(-16), "taken", statuses.count(0))
    else:
        for _ in range(2 if "twice" in o else 1):
            show(ask(agent, body), channel, names)
        if "again" in o:
            show(ask(agent, channel.body(own, 0, named, int(o["again"]))), channel, names)
    times = []
    for _ in range(int(o.get("times", 0))):
        begin = time.perf_counter_ns()
        ask(agent, body)
        times.append(time.perf_counter_ns() - begin)
        time.sleep(0.01)
    if times:
        print("median", sorted(times)[len(times) // 2] // 1000, "us")
    if "hold" in o:
        print("held", flush=True)
        sys.stdin.readline()
    os.close(stop)
    for pid in children:
        os.waitpid(pid, 0)


main()
