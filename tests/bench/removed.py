#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""removed.py FUNCTION PROGRAM ARGS... - runs the program after FUNCTION was instrumented and is so no more."""
import os
import subprocess
import sys

control = subprocess.Popen([sys.executable, os.environ['SPI_TOP_SRCDIR'] + '/tests/lib/controller.py'] + sys.argv[2:],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(command):
    print(command, file=control.stdin, flush=True)
    return control.stdout.readline().strip()


added = ask('add 1 ' + sys.argv[1])
if not added.startswith('rule 1 0 1 1'):
    sys.exit('not instrumented: ' + added)
ask('remove 1')
ask('go')
print(ask('wait'), file=sys.stderr)
control.stdin.close()
control.wait()
with open(os.environ['SPI_TMP'] + '/target.out') as out:
    sys.stdout.write(out.read())
