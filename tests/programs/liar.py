#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""
An agent that lies. liar.py SOCKET WHAT [ARGUMENT]...; prints what it is answered.

  claim PID        say HELLO in the name of PID
  maps PID FILE    ask for code maps of PID's executable, which is FILE, in three ways
  page KIND        give a status page that is not one: see PAGES
  garbage          packets that are none, each in a connection of its own
  endless SECONDS  send without end, and read nothing; prints how many packets it got rid of
  questions N      ask N times for a file, and read nothing; prints "closed" once the connection is
  rules TEXT       say HELLO as oneself, wait for rules, claim that each is in force and that its name is TEXT
  escape SECONDS   a child keeps the connection while this process becomes another program (argv[4:]), and asks for its code map
  overhear SECONDS the same, and prints what it is told meanwhile
  named PATH       ask for our own executable by that name
"""
import ctypes
import fcntl
import os
import random
import select
import socket
import struct
import sys
import time

MAGIC = 0x31495053
HELLO, MAP_REQUEST, FILE_REQUEST, RULE_DONE, DECLINED, NOTE = 1, 2, 3, 4, 5, 6
WELCOME, MAP, FILE, RULE_ADD, RULE_REMOVE, RULE_DISABLE, RULE_ENABLE, DETACH, GO = range(64, 73)
NAMES = {64: "WELCOME", 65: "MAP", 66: "FILE", 67: "RULE_ADD", 68: "RULE_REMOVE", 69: "RULE_DISABLE",
         70: "RULE_ENABLE", 71: "DETACH", 72: "GO"}


def packet(kind, body=b"", ident=1):
    return struct.pack("IHHII", MAGIC, 3, kind, ident, len(body)) + body


def start_time(pid):
    try:
        return int(open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()[19])
    except OSError:
        return 0


def hello(pid, flags=1):
    exe = os.readlink("/proc/self/exe").encode()
    return packet(HELLO, struct.pack("iIQ", pid, flags, start_time(pid)) + exe + b"\0")


def connect(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(path)
    return s


def send(s, data, fds=()):
    socket.send_fds(s, [data], list(fds))


def receive(s, seconds):
    """One message: kind, id, body, descriptors; None when nothing comes; () at the end."""
    if not select.select([s], [], [], seconds)[0]:
        return None
    try:
        data, fds, _, _ = socket.recv_fds(s, 65536, 4)
    except ConnectionError:
        return ()
    if len(data) < 16:
        return ()
    _, _, kind, ident, _ = struct.unpack("IHHII", data[:16])
    return kind, ident, data[16:], fds


def listen(s, seconds):
    """Print everything that comes within so many seconds."""
    end = time.monotonic() + seconds
    while True:
        m = receive(s, max(0, end - time.monotonic()))
        if m is None:
            return
        if m == ():
            print("closed", flush=True)
            return
        print(NAMES.get(m[0], m[0]), m[2][:200], flush=True)
        for fd in m[3]:
            os.close(fd)


def claim(path, pid):
    s = connect(path)
    send(s, hello(int(pid)))
    listen(s, 1.5)


def map_request(path, name, exe):
    """Ask for the object `name`, which is the file `path`, for its device and inode."""
    st = os.stat(path)
    return packet(MAP_REQUEST, struct.pack("QQ32sIIII", st.st_dev, st.st_ino, b"", 0, 0, 1 if exe else 0, 0) +
                  name.encode() + b"\0" + b"*\0", 7)


def maps(path, pid, file):
    s = connect(path)
    send(s, hello(int(pid)))
    requests = [map_request(file, file, False), map_request(file, "/proc/%s/exe" % pid, False),
                map_request(file, file, True)]
    for request in requests:
        send(s, request)
    left = len(requests)
    while left:
        m = receive(s, 10)
        if not m:
            print("end", m)
            return
        if m[0] == MAP:
            left -= 1
            status = struct.unpack("i", m[2][:4])[0]
            print("map none" if status else "map of %d bytes" % os.fstat(m[3][0]).st_size, status, m[2][8:120])


def memfd(size, seals, data=b""):
    fd = os.memfd_create("page", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    os.pwrite(fd, data, 0)
    if seals:
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


PAGE = struct.pack("II", 0x54415453, 1) + b"\xff" * 248
SHRINK = getattr(fcntl, "F_SEAL_SHRINK", 2)


def fifo():
    os.mkfifo("fifo")
    return os.open("fifo", os.O_RDWR)


def huge():
    try:
        fd = os.memfd_create("page", os.MFD_ALLOW_SEALING | os.MFD_HUGETLB)
        os.ftruncate(fd, 4 << 20)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SHRINK)
    except OSError:
        return os.open("/dev/null", os.O_RDWR)
    return fd


PAGES = {
    "unsealed": lambda: memfd(8192, 0, PAGE),
    "truncated": lambda: memfd(8192, 0, PAGE),
    "short": lambda: memfd(100, SHRINK, PAGE[:100]),
    "empty": lambda: memfd(0, SHRINK),
    "blocks": lambda: memfd(4096 + 64, SHRINK, PAGE),	# says that there are more blocks than there are
    "sparse": lambda: memfd(1 << 40, SHRINK, PAGE),
    "huge": huge,
    "zero": lambda: os.open("/dev/zero", os.O_RDWR),
    "fifo": fifo,
    "directory": lambda: os.open("/", os.O_RDONLY),
    "path": lambda: os.open("/etc/passwd", os.O_PATH),
    "socket": lambda: socket.socket(socket.AF_UNIX).detach(),
}


def page(path, kind):
    s = connect(path)
    fd = PAGES[kind]()
    send(s, hello(os.getpid()), [fd])
    m = receive(s, 5)
    if kind == "truncated":
        os.ftruncate(fd, 0)
    print("welcome" if m and m[0] == WELCOME else m, flush=True)
    sys.stdin.readline()		# until the test has looked


def garbage(path):
    rng = random.Random(5)
    all_fds = [os.open("/dev/null", os.O_RDWR) for _ in range(20)]
    shapes = [b"x", b"\0" * 16, packet(HELLO)[:15], packet(HELLO), packet(99), packet(NOTE, b"before hello"),
              struct.pack("IHHII", MAGIC, 9, HELLO, 1, 0), struct.pack("IHHII", MAGIC, 3, HELLO, 1, 99999),
              packet(HELLO, b"\xff" * 16 + b"a" * 50000), b"y" * 66000, b"z" * 150000, os.urandom(3000)]
    for shape in shapes + [os.urandom(rng.randrange(1, 4000)) for _ in range(50)]:
        for fds in (), all_fds[:1], all_fds:
            s = connect(path)
            try:
                send(s, shape, fds)
                receive(s, 0.05)
            except OSError:
                pass
            s.close()
    print("done")


def endless(path, seconds):
    s = connect(path)
    send(s, hello(os.getpid()))
    s.settimeout(0.2)
    end = time.monotonic() + float(seconds)
    sent = 0
    shapes = [packet(NOTE, b"note \x1b[31m\ttab\0" * 20), packet(DECLINED, b"o\x1b\tf\x07\tr\r\n" * 100)]
    while time.monotonic() < end:
        try:
            s.send(shapes[sent % len(shapes)])
            sent += 1
        except socket.timeout:
            continue
        except OSError as e:
            print("ended:", e)
            break
    print("sent", sent)


def questions(path, n):
    s = connect(path)
    send(s, hello(os.getpid()))
    s.settimeout(5)
    try:
        for i in range(int(n)):
            s.send(packet(FILE_REQUEST, b"libgcc_s.so.1\0", i))
    except (ConnectionError, BrokenPipeError):
        print("closed")
        return
    except socket.timeout:
        print("not read any more")
        return
    print("all taken")


def rules(path, text):
    s = connect(path)
    send(s, hello(os.getpid()))
    end = time.monotonic() + 3
    while time.monotonic() < end:
        m = receive(s, 0.5)
        if m == ():
            print("closed")
            return
        if m and m[0] in (RULE_ADD, RULE_ENABLE):
            rule = struct.unpack("I", m[2][:4])[0]
            print("told", m[2][8:].rstrip(b"\0").decode(), flush=True)
            send(s, packet(RULE_DONE, struct.pack("IiIIII", rule, 0, 1 << 31, 1, 0, 0) + text.encode().decode(
                "unicode_escape").encode() + b"\0", m[1]))
    sys.stdin.readline()


def leave(path, *program):
    """The parent becomes another program; returns in the child, which has its connection."""
    s = connect(path)
    send(s, hello(os.getpid(), 0))
    receive(s, 5)
    parent = os.getpid()
    ready, go = os.pipe()
    if os.fork():
        os.close(go)
        os.read(ready, 1)
        os.execv(program[0], program)
    exe = os.readlink("/proc/%d/exe" % parent)
    os.write(go, b"x")
    os.close(go)
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            if os.readlink("/proc/%d/exe" % parent) != exe:
                break
        except OSError:
            break		# not ours to look at any more
        time.sleep(0.005)
    time.sleep(0.05)
    return s


def overhear(path, seconds, *program):
    s = leave(path, *program)
    print("became", flush=True)
    listen(s, float(seconds))


def named(path, name):
    s = connect(path)
    send(s, hello(os.getpid()))
    exe = os.path.realpath("/proc/self/exe")
    st = os.stat(exe)
    send(s, packet(MAP_REQUEST, struct.pack("QQ32sIIII", st.st_dev, st.st_ino, b"", 0, 0, 1, 0) + name.encode() +
                   b"\0no_such_function_anywhere\0", 7))
    while True:
        m = receive(s, 20)
        if not m or m[0] == MAP:
            print("map", struct.unpack("i", m[2][:4])[0], m[2][8:].split(b"\0")[0].decode()) if m else print("end", m)
            return


def escape(path, seconds, *program):
    """And asks in the program's name."""
    s = leave(path, *program)
    try:
        send(s, map_request(program[0], program[0], True))
    except OSError:
        print("closed", flush=True)
        return
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        m = receive(s, 0.5)
        if m == ():
            print("closed")
            break
        if m and m[0] == MAP:
            print("map", struct.unpack("i", m[2][:4])[0], m[2][8:].rstrip(b"\0").decode(errors="replace"))
            break
        if m:
            print(NAMES.get(m[0], m[0]), m[2][:100])
    sys.stdout.flush()


globals()[sys.argv[2]](sys.argv[1], *sys.argv[3:])
