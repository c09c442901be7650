#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""`make bench`, part backtrace: spi_call_backtrace() beside libunwind's unw_backtrace() and glibc's backtrace().

Each round measures all of them in turn, each in a process of its own, as the agent stands before backtrace(). Printed
are medians of the rounds. Code is known by then: 20000 backtraces at one place.
"""
import os
import re
import statistics
import subprocess
import sys

BUILD, SOURCE = os.environ['SPI_TOP_BUILDDIR'], os.environ['SPI_TOP_SRCDIR']
HERE, LIBRARY = SOURCE + '/tests/bench', BUILD + '/liblttng-spi/.libs'
ROUNDS = max(7, int(os.environ.get('SPI_BENCH_ROUNDS', '7')))


def build(*words):
    subprocess.run(('gcc', '-O2', '-g') + words, check=True)


def main():
    known = subprocess.run(('ldconfig', '-p'), stdout=subprocess.PIPE, text=True, check=True).stdout
    unwinder = re.search(r'libunwind\.so\.8 .*x86-64', known)
    build(HERE + '/backtrace.c', '-o', 'backtrace')
    build('-shared', '-fPIC', HERE + '/backtrace-payload.c', '-o', 'backtrace-payload.so', '-I' + SOURCE + '/include',
          '-L' + LIBRARY, '-llttng-spi', '-Wl,-rpath,' + LIBRARY)
    ours = dict(os.environ, LD_PRELOAD='./backtrace-payload.so', LTTNG_SPI_CODEMAP=BUILD + '/codemap/spi-codemap')
    ways = [('lttng-spi: spi_call_backtrace()', 'none', ours)]
    if unwinder:
        ways.append(('libunwind: unw_backtrace()', 'libunwind', None))
    else:
        print('  libunwind: not measured: libunwind8 is not installed')
    ways.append(('glibc: backtrace()', 'glibc', None))
    print('backtrace: ns a backtrace, medians of %d rounds' % ROUNDS)
    for frames in 10, 50:
        samples = {name: [] for name, _, _ in ways}
        for _ in range(ROUNDS):
            for name, how, environment in ways:
                done = subprocess.run(('./backtrace', str(frames), how), stdout=subprocess.PIPE, text=True,
                                      env=environment, check=False)
                if done.returncode or not done.stdout.strip():
                    sys.exit('  %s: status %d, said %r' % (name, done.returncode, done.stdout))
                samples[name].append(float(done.stdout))
        for name, values in samples.items():
            print('  %-44s %2d frames %10.0f' % (name, frames, statistics.median(values)))


main()
