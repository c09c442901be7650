#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Reads the broker's status socket (broker/status-proto.h) and prints it; with words: only records that begin so."""
import socket
import sys

s = socket.socket(socket.AF_UNIX)
s.settimeout(5)
s.connect("/run/lttng/spi-status")
data = b""
while True:
    more = s.recv(65536)
    if not more:
        break
    data += more
lines = data.decode().split("\n")
if lines[-2:] != ["end", ""]:
    sys.exit("the answer has no end")
for line in lines[:-2]:
    if line.split("\t")[:len(sys.argv) - 1] == sys.argv[1:]:
        print(line)
