#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""
A file system whose one file, `page`, is read by who waits: held-page.py DIRECTORY. Prints "mounted"; reads of the file are answered once a line has come.
"""
import ctypes
import os
import select
import stat
import struct
import sys

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT, OPENDIR, BATCH_FORGET = 1, 2, 3, 14, 15, 17, 18, 25, 26, 27, 42


def attributes(node):
    mode = stat.S_IFDIR | 0o755 if node == 1 else stat.S_IFREG | 0o755
    return struct.pack("QQQQQQIIIIIIIIII", node, 65536, 128, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(fd, unique, error=0, body=b""):
    try:
        os.write(fd, struct.pack("IiQ", 16 + len(body), -error, unique) + body)
    except OSError:
        pass


def main():
    directory = sys.argv[1]
    fd = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % fd
    if libc.mount(b"held", directory.encode(), b"fuse", 0, options.encode()):
        print("no FUSE:", os.strerror(ctypes.get_errno()), flush=True)
        return
    print("mounted", flush=True)
    waiting, held = [], True
    while True:
        ready = select.select([fd, 0], [], [])[0]
        if 0 in ready:
            if not sys.stdin.readline():
                return
            held = False
            for unique, size in waiting:
                answer(fd, unique, 0, b"\0" * size)
        if fd not in ready:
            continue
        try:
            request = os.read(fd, 1 << 20)
        except OSError:
            return
        _, opcode, unique, node = struct.unpack("IIQQ", request[:24])
        body = request[40:]
        if opcode == INIT:
            answer(fd, unique, 0, struct.pack("IIIIHHIIHHI", 7, 31, 65536, 0, 12, 10, 65536, 1, 32, 0, 0) + b"\0" * 28)
        elif opcode == LOOKUP and body.rstrip(b"\0") == b"page":
            answer(fd, unique, 0, struct.pack("QQQQII", 2, 0, 1000, 1000, 0, 0) + attributes(2))
        elif opcode == LOOKUP:
            answer(fd, unique, 2)
        elif opcode == GETATTR:
            answer(fd, unique, 0, struct.pack("QII", 1000, 0, 0) + attributes(node))
        elif opcode in (OPEN, OPENDIR):
            answer(fd, unique, 0, struct.pack("QII", 0, 0, 0))
        elif opcode == READ:
            size = struct.unpack("I", body[16:20])[0]
            if held:
                waiting.append((unique, size))
            else:
                answer(fd, unique, 0, b"\0" * size)
        elif opcode in (RELEASE, FLUSH):
            answer(fd, unique)
        elif opcode not in (FORGET, BATCH_FORGET):
            answer(fd, unique, 38)


main()
