# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Fake agents: each function is one conversation with the controller at PATH. agents.py PATH FUNCTION [ARG...]"""

import array
import fcntl
import os
import socket
import struct
import sys

MAGIC, HELLO, MAP_REQUEST, FILE_REQUEST, RULE_DONE, DECLINED, NOTE, DETACHED = 0x31495053, 1, 2, 3, 4, 5, 6, 7
WELCOME, MAP, FILE, RULE_ADD, DETACH, GO = 64, 65, 66, 67, 71, 72
F_GET_SEALS, F_ADD_SEALS = 1034, 1033


def status_page(entries, seals=2, size=256):
    """A status page's memfd; seal 2 is F_SEAL_SHRINK."""
    fd = os.memfd_create("status", os.MFD_ALLOW_SEALING)
    os.write(fd, struct.pack("<IIQ", 0x54415453, 1, entries).ljust(size, b"\0"))
    fcntl.fcntl(fd, F_ADD_SEALS, seals)
    return fd


class Agent:
    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.connect(path)
        self.path = path

    def send(self, kind, body, number=0, fd=None):
        packet = struct.pack("<IHHII", MAGIC, 3, kind, number, len(body)) + body
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))] if fd is not None else []
        self.sock.sendmsg([packet], rights)

    def receive(self):
        """(type, id, body, fd or None), or None at the end."""
        packet, rights, _, _ = self.sock.recvmsg(70000, 64)
        if not packet:
            return None
        fd = struct.unpack("i", rights[0][2][:4])[0] if rights else None
        _, _, kind, number, size = struct.unpack("<IHHII", packet[:16])
        assert size == len(packet) - 16
        return kind, number, packet[16:], fd

    def hello(self, fd=None):
        body = struct.pack("<iIQ", 1, 1, 2) + b"/usr/bin/fake\0"
        self.send(HELLO, body, 5, fd)
        kind, number, body, _ = self.receive()
        assert (kind, number) == (WELCOME, 5), (kind, number)
        assert struct.unpack("<II", body[:8]) == (1, 99) and body[8:] == self.path.encode() + b"\0"
        kind, _, body, _ = self.receive()
        assert kind == RULE_ADD and body == struct.pack("<II", 7, 1) + b"lib.so:f_*\0"
        assert self.receive()[0] == GO


def conversation(path):
    a = Agent(path)
    a.hello(status_page(1234))
    a.send(NOTE, b"a note\0")
    a.send(DECLINED, b"lib.so\tf_one\ttoo small\nlib.so\tf_two\tno reason\n\0")
    a.send(RULE_DONE, struct.pack("<IiIIII", 7, 0, 3, 1, 2, 0) + b"fine\0")
    assert a.receive()[0] == DETACH
    a.send(DETACHED, b"")


def shrinkable(path):
    Agent(path).hello(status_page(1, seals=0))


def short_page(path):
    Agent(path).hello(status_page(1, size=100))


def ask_map(path, exe, pattern, device=None, inode=None, flags=1):
    a = Agent(path)
    a.hello()
    st = os.stat(exe)
    body = struct.pack("<QQ32sIIII", st.st_dev if device is None else int(device),
                       st.st_ino if inode is None else int(inode), b"", 0, 0, int(flags), 0)
    file = struct.pack("<Qqqqq", st.st_size, *divmod(st.st_mtime_ns, 10 ** 9), *divmod(st.st_ctime_ns, 10 ** 9))
    a.send(MAP_REQUEST, body + exe.encode() + b"\0" + pattern.encode() + b"\0" + file, 17)
    kind, number, body, fd = a.receive()
    assert (kind, number) == (MAP, 17)
    status = struct.unpack("<ii", body[:8])[0]
    if status:
        print("status %d %s" % (status, body[8:].rstrip(b"\0").decode()))
    else:
        print("map %s seals %d" % (os.pread(fd, 8, 0)[1:7].decode(), fcntl.fcntl(fd, F_GET_SEALS)))


def many_maps(path, exe, pattern):
    """Ask twelve times before the first answer; each gets its own."""
    a = Agent(path)
    a.hello()
    st = os.stat(exe)
    for i in range(12):
        a.send(MAP_REQUEST, struct.pack("<QQ32sIIII", st.st_dev, st.st_ino, b"", 0, 0, 1, 0) +
               exe.encode() + b"\0" + pattern.encode() + b"\0", 100 + i)
    print("answers %d" % len({a.receive()[1] for _ in range(12)}))


def ask_file(path, name):
    a = Agent(path)
    a.hello()
    a.send(FILE_REQUEST, name.encode() + b"\0", 3)
    kind, number, body, fd = a.receive()
    assert (kind, number) == (FILE, 3)
    status = struct.unpack("<ii", body[:8])[0]
    if status:
        print("status %d %s" % (status, body[8:].rstrip(b"\0").decode()))
    elif name == "daemon-home":
        print("home %s" % ("lttng-ust-sock-8" in os.listdir("/proc/self/fd/%d/.lttng" % fd)))
        # Through another root directory, as in a container.
        os.makedirs("elsewhere/proc", exist_ok=True)
        if os.system("mount -t proc proc elsewhere/proc") == 0:
            os.chroot("elsewhere")
            s = socket.socket(socket.AF_UNIX)
            s.connect("/proc/self/fd/%d/.lttng/lttng-ust-sock-8" % fd)
            print("connected")
    else:
        print("file %s seals %d" % (os.pread(fd, 4, 0)[1:].decode(), fcntl.fcntl(fd, F_GET_SEALS)))


def broken(path, how):
    a = Agent(path)
    if how == "magic":
        a.sock.send(struct.pack("<IHHII", 1, 1, HELLO, 0, 0))
    elif how == "size":
        a.sock.send(struct.pack("<IHHII", MAGIC, 3, HELLO, 0, 99))
    elif how == "short":
        a.sock.send(b"abc")
    elif how == "early":
        a.send(NOTE, b"before hello\0")
    elif how == "huge":
        a.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        a.sock.send(b"x" * 70000)
    else:
        a.hello()
        a.send(*{"map": (MAP_REQUEST, b"x" * 80), "map2": (MAP_REQUEST, b"\0" * 65 + b"\xff" * 9),
                 "declined": (DECLINED, b"one\ttwo\n\0"), "done": (RULE_DONE, b"1234")}[how])
    print("closed" if a.receive() is None else "open")


globals()[sys.argv[2]](sys.argv[1], *sys.argv[3:])
