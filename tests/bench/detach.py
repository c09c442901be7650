#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""detach.py N - how long it takes to instrument N functions and to remove that again, while 4 threads call them."""
import os
import statistics
import subprocess
import sys
import time

count = int(sys.argv[1])
rounds = 7
with open('many.c', 'w') as c:
    c.write('#include <pthread.h>\n#include <signal.h>\n#include <stdio.h>\nstatic volatile sig_atomic_t stop;\n')
    for i in range(count):
        c.write('__attribute__((noipa)) long many_%04d(long a, long b) { return a * %d + b; }\n' % (i, i + 1))
    c.write('static long (*const all[])(long, long) = {\n')
    c.write(''.join('\tmany_%04d,\n' % i for i in range(count)))
    c.write('};\nstatic void on_term(int s) { stop = 1; }\n'
            'static void *run(void *bad) { while (!stop) for (int i = 0; i < %d; i++)'
            ' if (all[i](i, 2) != i * (i + 1l) + 2) *(long *) bad = 1; return NULL; }\n'
            'int main(void) { pthread_t t[4]; static long bad; signal(SIGTERM, on_term); puts("ready"); fflush(stdout);\n'
            'for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, run, &bad);\n'
            'for (int i = 0; i < 4; i++) pthread_join(t[i], NULL); return bad; }\n' % count)
subprocess.run(['gcc', '-O2', '-g', '-pthread', '-o', 'many', 'many.c'], check=True)
control = subprocess.Popen([sys.executable, os.environ['SPI_TOP_SRCDIR'] + '/tests/lib/controller.py', './many'],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(command):
    begin = time.monotonic()
    print(command, file=control.stdin, flush=True)
    return control.stdout.readline().strip(), (time.monotonic() - begin) * 1e3


answer, first = ask('add 1 many_*')
words = answer.split()
if len(words) < 6 or int(words[4]) < count:
    sys.exit('  only instrumented: ' + answer)
ask('go')
off, on = [], []
for _ in range(rounds):
    off.append(ask('disable 1')[1])
    on.append(ask('enable 1')[1])
answer, removed = ask('remove 1')
ended = ask('end')[0]
print('  %-58s %8.1f ms' % ('first time, with the code map, before main()', first))
print('  %-58s %8.1f ms (median of %d)' % ('off', statistics.median(off), rounds))
print('  %-58s %8.1f ms (median of %d)' % ('on again', statistics.median(on), rounds))
print('  %-58s %8.1f ms' % ('removed for good', removed))
sys.exit(0 if ended == 'ended 0' else 'the program: ' + ended)
