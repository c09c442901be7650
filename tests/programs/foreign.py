#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""
Sends descriptors whose end takes as long as their sender likes. foreign.py DIRECTORY WHAT; prints "sent", and waits for the end of its input.

A TCP socket with SO_LINGER, whose peer does not read; its last reference is the one that was sent:
  first    with a packet that is none
  hello    as the status page
  page     as the second descriptor beside a status page
  unread   with a packet behind one that ends the connection
  child    in the connection of a child to be
  inside   in the queue of a socket that comes with a packet that is none
  status   to the socket of lttng list --spi
"""
import array
import os
import socket
import struct
import sys

MAGIC = 0x31495053
HELLO, NONE = 1, 99
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../liblttng-spi/base/agent-proto.h")) as header:
    # SPI_MSG_CHILD, by counting from SPI_MSG_HELLO = 1
    names = [w.split(",")[0].split(" ")[0].strip() for w in header.read().split("SPI_MSG_HELLO = 1")[1].split("\n")]
    names = [n for n in names if n.startswith("SPI_MSG_")]
    CHILD = 2 + names.index("SPI_MSG_CHILD")


def packet(kind, body=b""):
    return struct.pack("IHHII", MAGIC, 3, kind, 1, len(body)) + body


def start_time():
    return int(open("/proc/self/stat").read().rpartition(")")[2].split()[19])


def hello():
    return packet(HELLO, struct.pack("iIQ", os.getpid(), 0, start_time()) + os.readlink("/proc/self/exe").encode() + b"\0\0")


def connect(name, kind=socket.SOCK_SEQPACKET):
    s = socket.socket(socket.AF_UNIX, kind)
    s.connect(sys.argv[1] + "/" + name)
    return s


def send(s, data, fds):
    s.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])


kept = []


def lingering():
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    c = socket.create_connection(listener.getsockname())
    kept.extend([listener, listener.accept()[0]])
    c.setblocking(False)
    try:
        while True:
            c.send(b"x" * 65536)
    except BlockingIOError:
        pass
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 60))
    return c.detach()


what = sys.argv[2]
bad = lingering()
if what == "status":
    kept.append(connect("spi-status", socket.SOCK_STREAM))
    send(kept[-1], b"x", [bad])
else:
    s = connect("spi-agent")
    kept.append(s)
    if what == "first":
        send(s, packet(NONE), [bad])
    elif what == "hello":
        send(s, hello(), [bad])
    elif what == "page":
        send(s, hello(), [os.memfd_create("page", os.MFD_ALLOW_SEALING), bad])
    elif what == "unread":
        s.send(packet(NONE))
        send(s, packet(NONE), [bad])
    else:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        send(ours, packet(NONE), [bad])
        if what == "child":
            s.send(hello())
        send(s, packet(CHILD if what == "child" else NONE), [theirs.fileno()])
        theirs.close()
        if what == "inside":
            ours.close()
os.close(bad)	# not the last one
print("sent", flush=True)
sys.stdin.read()
os._exit(0)
