#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""
Reads the broker's status socket (broker/status-proto.h) and prints it; with words: only records that begin so.
`--until REGEX`: asks again and again until a record matches, and prints that one; for what is so for a moment only, in which no
program is sure to start. Gives up after 30 s.
"""
import re
import socket
import sys
import time


def records():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(5)
    s.connect("/run/lttng/spi-status")
    data = b""
    while True:
        more = s.recv(65536)
        if not more:
            break
        data += more
    s.close()
    lines = data.decode().split("\n")
    if lines[-2:] != ["end", ""]:
        sys.exit("the answer has no end")
    return lines[:-2]


if sys.argv[1:2] == ["--until"]:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        for line in records():
            if re.search(sys.argv[2], line):
                print(line)
                sys.exit(0)
        time.sleep(0.01)
    sys.exit(1)
for line in records():
    if line.split("\t")[:len(sys.argv) - 1] == sys.argv[1:]:
        print(line)
