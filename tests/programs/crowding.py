#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""
One user against the others. crowding.py WHAT SECONDS [ARGUMENT]...; says "begun" once it is at it.

  maps SECONDS PROCESSES [S]    each asks for 250 code maps; the user's spi-codemaps are stopped, looked for every S seconds
  mappings SECONDS              a process with 60 000 mappings of a path of 4 KB, which asks for a code map as well
  answers SECONDS CONNECTIONS   each asks for maps of what is not there, by a long name, and reads nothing
  words SECONDS CONNECTIONS     each tells of as much that is not instrumented as is taken
"""
import ctypes
import mmap
import os
import signal
import socket
import struct
import sys
import time

SOCKET = "/run/lttng/spi-agent"


def packet(kind, body=b"", ident=1):
    return struct.pack("IHHII", 0x31495053, 3, kind, ident, len(body)) + body


def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(SOCKET)
    exe = os.readlink("/proc/self/exe").encode()
    s.send(packet(1, struct.pack("iIQ", os.getpid(), 0, 0) + exe + b"\0"))
    return s


def map_request(i, pattern, is_executed=1):
    exe = os.path.realpath("/proc/self/exe")
    st = os.stat(exe)
    return packet(2, struct.pack("QQ32sIIII", st.st_dev, st.st_ino, b"", 0, 0, is_executed, 0) + exe.encode() + b"\0" +
                  pattern.encode() + b"\0", i)


def stop_codemaps(end, pause):
    """All of ours, again and again."""
    begun = False
    while time.monotonic() < end:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if open("/proc/%s/comm" % pid).read() == "spi-codemap\n":
                    os.kill(int(pid), signal.SIGSTOP)
                    if not begun:
                        print("begun", flush=True)
                    begun = True
            except OSError:
                pass
        time.sleep(pause)


def quiet(s, data):
    try:
        s.send(data, socket.MSG_DONTWAIT)
        return True
    except BlockingIOError:
        return True
    except OSError:
        return False


def maps(end, processes, pause=0.01):
    for i in range(int(processes)):
        if os.fork():
            continue
        s = connect()
        for k in range(250):
            try:
                s.send(map_request(k, "f%d_%d" % (i, k)))
            except OSError:
                break
        time.sleep(max(0, end - time.monotonic()))
        os._exit(0)
    stop_codemaps(end, float(pause))


def mappings(end):
    directory = "/tmp/crowding-%d" % os.getpid()
    os.mkdir(directory)
    os.chdir(directory)
    for _ in range(15):
        os.mkdir("d" * 250)
        os.chdir("d" * 250)
    fd = os.open("f" * 200, os.O_RDWR | os.O_CREAT, 0o700)
    os.ftruncate(fd, 8192)
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    for i in range(60000):
        libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE, fd, 0)
    s = connect()
    print("begun", flush=True)
    i = 0
    while time.monotonic() < end:
        i += 1
        quiet(s, map_request(i, "f%d" % i, 0))
        # one mapping more or less: its name is looked at anew
        with open("/proc/self/comm", "w") as comm:
            comm.write("crowding%d" % (i % 2))
        time.sleep(0.1)


def answers(end, connections):
    all_of_them = [connect() for _ in range(int(connections))]
    print("begun", flush=True)
    long_name = packet(2, struct.pack("QQ32sIIII", 1, 1, b"", 0, 0, 0, 0) + b"/" + b"x" * 4000 + b"\0f\0")
    while time.monotonic() < end:
        for i, s in enumerate(all_of_them):
            if not all(quiet(s, long_name) for _ in range(30)):
                try:
                    all_of_them[i] = connect()
                except OSError:
                    pass


def words(end, connections):
    all_of_them = []
    for i in range(int(connections)):
        if os.fork():
            continue
        s = connect()
        for k in range(80):
            quiet(s, packet(6, (b"%d-%d " % (i, k)) + b"n" * 1000 + b"\0"))
        for k in range(10):
            quiet(s, packet(5, b"".join(b"o\t%d-%d-%d\t%s\n" % (i, k, n, b"r" * 900) for n in range(50)) + b"\0"))
        time.sleep(max(0, end - time.monotonic()))
        os._exit(0)
    print("begun", flush=True)
    time.sleep(max(0, end - time.monotonic()))


end = time.monotonic() + float(sys.argv[2])
globals()[sys.argv[1]](end, *sys.argv[3:])
