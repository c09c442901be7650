#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""under-bpftrace.py SCRIPT PROGRAM ARGS... - runs the program while the bpftrace script is attached."""
import os
import signal
import subprocess
import sys

ready = 'BEGIN { printf("attached\\n"); } ' + sys.argv[1]
tracer = subprocess.Popen(['bpftrace', '-B', 'none', '-e', ready], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
while True:
    line = tracer.stdout.readline()
    if not line:
        sys.stderr.write(tracer.stderr.read())
        sys.exit(1)
    if line.startswith('attached'):
        break
status = subprocess.call(sys.argv[2:])
os.kill(tracer.pid, signal.SIGINT)
tracer.communicate()
sys.exit(status)
