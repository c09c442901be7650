#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""
How long a program takes from its start to its end while something else goes on. starts.py SECONDS UID COMMAND...: again and again for so
long, as that user (0: as ours); prints "P99 WORST COUNT FAILED", ms.
"""
import os
import subprocess
import sys
import time

seconds, uid, command = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
took, failed, end = [], 0, time.monotonic() + seconds
rights = {"user": uid, "group": uid, "extra_groups": []} if uid and not os.geteuid() else {}
while time.monotonic() < end or len(took) < 10:
    began = time.monotonic()
    try:
        failed += subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=30, **rights).returncode != 0
    except subprocess.TimeoutExpired:
        failed += 1
    took.append(int((time.monotonic() - began) * 1000))
took.sort()
print(took[min(len(took) - 1, len(took) * 99 // 100)], took[-1], len(took), failed)
