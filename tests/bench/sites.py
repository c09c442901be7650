#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""What a call costs by the number of call sites in use (make bench, part `tree`).

A program of one loop is what tracers are measured with, and not what they are used
for: with a thousand call sites in turn, a CPU no longer remembers where each of the
tracer's jumps goes. So a program is made whose functions call 16 to 4 096 others,
one after the other, each from a site of its own: all of them different functions, or
all the same one. Printed are nanoseconds a call, its entry and its exit recorded, of
the thread's CPU time: the least of the repetitions.
"""
import os
import shutil
import subprocess
import sys

BUILD, TMP = os.environ['SPI_TOP_BUILDDIR'], os.environ['SPI_TMP']
AGENT = BUILD + '/liblttng-spi/.libs/liblttng-spi.so.0'
CODEMAP = BUILD + '/codemap/spi-codemap'
SIZES = (16, 256, 512, 1024, 2048, 4096)
REPEAT, CALLS = 20, 16384

HEAD = '''#define _GNU_SOURCE
#include <stdio.h>
#include <time.h>
#define PLAIN __attribute__((noipa, no_instrument_function))
static volatile int sink;
PLAIN static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}
PLAIN static void measure(void (*all)(int), int n)
{
	double least = 1e9;

	for (int k = 0; k < %d; k++) {
		double begin = cpu_ns(), took;

		for (int i = 0; i < %d / n; i++)
			all(i);
		took = (cpu_ns() - begin) / (%d / n * n);
		if (took < least)
			least = took;
	}
	printf("%%.2f ", least);
}
''' % (REPEAT, CALLS, CALLS)


def program(name, is_one):
    lines = [HEAD]
    lines += ['__attribute__((noipa)) static int f%d(int a) { return sink = a * 3 + %d; }' % (i, 100000 + i) for i in range(max(SIZES))]
    for n in SIZES:
        lines.append('__attribute__((noipa)) static void all%d(int a) {' % n)
        lines += ['f%d(a);' % (0 if is_one else i) for i in range(n)]
        lines.append('}')
    lines.append('int main(void) {' + ''.join('measure(all%d, %d);' % (n, n) for n in SIZES) + 'puts(""); return 0; }')
    source, out = '%s/%s.c' % (TMP, name), '%s/%s' % (TMP, name)
    with open(source, 'w') as stream:
        stream.write('\n'.join(lines) + '\n')
    subprocess.run(['gcc', '-O2', '-w', '-o', out, source], check=True)
    return out


def stock(*command):
    done = subprocess.run(['lttng', *command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError('lttng %s: %s' % (' '.join(command), (done.stderr or done.stdout).strip()))


def output(command, environment=None):
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, **(environment or {})))
    if done.returncode or len(done.stdout.split()) != len(SIZES):
        raise RuntimeError((done.stderr.strip().splitlines() or ['status %d' % done.returncode])[-1])
    return [float(word) for word in done.stdout.split()]


def untraced(path):
    return output([path])


def tree(path, is_started=True):
    directory = TMP + '/sites-trace'
    stock('create', 'sites', '-o', directory)
    try:
        stock('enable-channel', '-u', 'c', '--subbuf-size', '4M', '--num-subbuf', '8', '--blocking-timeout', 'inf')
        stock('enable-event', '-u', '-c', 'c', 'spi_tree:*')
        if is_started:
            stock('start')
        return output([path], {'LD_PRELOAD': AGENT, 'LTTNG_SPI_CODEMAP': CODEMAP, 'LTTNG_UST_ALLOW_BLOCKING': '1',
                               'LTTNG_SPI_RULES': 'tree(main;compact)'})
    finally:
        stock('destroy', 'sites')
        shutil.rmtree(directory, ignore_errors=True)


def uftrace(path):
    try:
        return output(['uftrace', 'record', '-d', TMP + '/sites.data', '--no-libcall', '-b', '64M', '-P', '.', path])
    finally:
        shutil.rmtree(TMP + '/sites.data', ignore_errors=True)


VARIANTS = [('untraced', untraced), ('lttng-spi tree, --compact', tree),
            ('lttng-spi tree, session not started', lambda path: tree(path, False)), ('uftrace -P .', uftrace)]


def main():
    for is_one, title in ((False, 'each another function'), (True, 'all the same function')):
        path = program('sites-same' if is_one else 'sites-other', is_one)
        print('\nNanoseconds a call by the number of call sites, %s' % title)
        print('  %-44s %s' % ('', ''.join('%8d' % n for n in SIZES)), flush=True)
        for name, run in VARIANTS:
            try:
                print('  %-44s %s' % (name, ''.join('%8.1f' % ns for ns in run(path))), flush=True)
            except (RuntimeError, OSError) as error:
                print('  %-44s cannot be measured here: %s' % (name, error))


sys.exit(main())
