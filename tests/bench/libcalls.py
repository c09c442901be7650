#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""`make bench`, part libcalls: what a call of a library's function costs while it is recorded: --libcalls, uftrace, ltrace.

The program measures its calls by the clock, as ltrace stops it at each; it makes fewer of them for ltrace. Each round
measures all ways in turn, and one without tracing. Printed are medians of the rounds, less those without tracing.
"""
import os
import shutil
import statistics
import subprocess
import sys

BUILD = os.environ['SPI_TOP_BUILDDIR']
ROUNDS = max(7, int(os.environ.get('SPI_BENCH_ROUNDS', '7')))
LIBRARY = 'int leaf_of_library(int n) { return n + 1; }\nint inner(int n) { return leaf_of_library(n); }\n'
PROGRAM = r'''
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int leaf_of_library(int), inner(int);
int main(int argc, char **argv)
{
	long turns = atol(argv[1]), n = 0;
	struct timespec a, b;

	for (int i = 0; i < 100; i++)
		n += argc > 2 ? inner(i) : leaf_of_library(i);
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (long i = 0; i < turns; i++)
		n += argc > 2 ? inner((int) i) : leaf_of_library((int) i);
	clock_gettime(CLOCK_MONOTONIC, &b);
	fprintf(stderr, "%.2f\n", ((b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec) / turns);
	return n == 1;
}
'''


def build(output, text, *options):
    subprocess.run(['gcc', '-O2', '-x', 'c', '-', '-o', output, *options], input=text, text=True, check=True)


def measure(command):
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    numbers = [line for line in done.stderr.splitlines() if line.replace('.', '', 1).isdigit()]
    if not numbers:
        sys.exit('  %s: status %d: %s' % (' '.join(command), done.returncode, done.stderr[-300:]))
    return float(numbers[0])


def main():
    build('libleaf.so', LIBRARY, '-shared', '-fPIC', '-fno-optimize-sibling-calls')
    build('libcalls', PROGRAM, '-L.', '-lleaf', '-Wl,-rpath,' + os.getcwd())
    spi = [BUILD + '/cli/lttng', '-q', 'trace', '--libcalls=libleaf.so:*', '--subbuf-size=4M', '--num-subbuf=8', '-o']
    ways = [('plain', ['./libcalls', '1000000'])]
    ways.append(('lttng-spi: entry and exit', spi + ['libcalls.trace', './libcalls', '1000000']))
    ways.append(('lttng-spi: one event', spi + ['libcalls.trace', '--one-event', './libcalls', '1000000']))
    ways.append(('lttng-spi: a call of the library to itself', spi[:3] + ['--libcalls=libleaf.so:leaf*', '-o', 'libcalls.trace',
                 './libcalls', '1000000', 'inner']))
    if shutil.which('uftrace'):
        ways.append(('uftrace record --force', ['uftrace', 'record', '--force', '-b', '64M', '-d', 'libcalls.uftrace', './libcalls',
                                               '1000000']))
    if shutil.which('ltrace'):
        ways.append(('ltrace', ['ltrace', '-o', '/dev/null', './libcalls', '10000']))
    samples = {name: [] for name, _ in ways}
    for _ in range(ROUNDS):
        for name, command in ways:
            shutil.rmtree('libcalls.trace', ignore_errors=True)
            samples[name].append(measure(command))
    plain = statistics.median(samples['plain'])
    print('\nlibcalls: ns a call of a library, medians of %d rounds' % ROUNDS)
    for name, values in samples.items():
        print('  %-46s %10.1f' % (name, statistics.median(values) - (plain if name != 'plain' else 0)))


main()
