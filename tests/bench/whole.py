#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""Whole runs of unmodified programs with every call recorded (make bench, part `tree`).

Each round runs all variants one after the other; printed are the medians of the
CPU time of the program (and of those that it or its tracer starts), of its ratio
to the untraced run of the same round, of the elapsed time, and what the trace
takes. `calls` is callgrind's count of calls below main() in the
program and all of its libraries. Calls are recorded without loss: the program
waits for the consumer when its buffers are full.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

BUILD, SOURCE = os.environ['SPI_TOP_BUILDDIR'], os.environ['SPI_TOP_SRCDIR']
AGENT = BUILD + '/liblttng-spi/.libs/liblttng-spi.so.0'
CODEMAP = BUILD + '/codemap/spi-codemap'
TMP = os.environ['SPI_TMP']
ROUNDS = int(os.environ.get('SPI_BENCH_ROUNDS', '7'))

PYTHON = '''
class Node:
    def __init__(self, value):
        self.value, self.left, self.right = value, None, None
def insert(node, value):
    if node is None:
        return Node(value)
    if value < node.value:
        node.left = insert(node.left, value)
    else:
        node.right = insert(node.right, value)
    return node
def total(node):
    return 0 if node is None else total(node.left) + node.value + total(node.right)
root = None
for i in range(4000 * TIMES):
    root = insert(root, i * 7919 % (10007 * TIMES))
words = {}
for i in range(8000 * TIMES):
    key = 'w%d' % (i * i % 997)
    words[key] = words.get(key, 0) + len(repr(i).split('3'))
print(total(root), sorted(words.items())[:3])
'''


def sqlite_script():
    """10 000 statements."""
    lines = ['create table t(a integer primary key, b text, c real);', 'begin;']
    lines += ["insert into t values (%d, 'text %d', %d.5);" % (i, i * 7919 % 1009, i % 97) for i in range(4000)]
    lines += ['commit;', 'create index i on t(b);']
    lines += ["select c from t where b = 'text %d' limit 1;" % (i % 1009) for i in range(3000)]
    lines += ['update t set c = c + 1 where a = %d;' % (i * 13 % 4000) for i in range(2996)]
    return '\n'.join(lines) + '\nselect sum(c) from t;\n'


def stock(*command):
    done = subprocess.run(['lttng', *command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError('lttng %s: %s' % (' '.join(command), (done.stderr or done.stdout).strip()))
    return done.stdout


def size_of(directory):
    return sum(os.path.getsize(os.path.join(root, name)) for root, _, names in os.walk(directory) for name in names
               if os.path.isfile(os.path.join(root, name)))


def execute(command, script, environment=None):
    """(CPU seconds, status, stdout, seconds)"""
    with open(script) as stdin, open(TMP + '/whole.err', 'w') as errors:
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=errors,
                                   env=dict(os.environ, **(environment or {})))
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime, process.returncode, text, seconds


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def soname(path):
    return re.search(r'SONAME.*\[(.*)\]', output('readelf', '-dW', path)).group(1)


def native(command, script):
    return (*execute(command, script), 0, 0)


def tree(command, script, rule, events):
    directory = TMP + '/whole-trace'
    shutil.rmtree(directory, ignore_errors=True)
    stock('create', 'whole', '-o', directory)
    stock('enable-channel', '-u', 'c', '--subbuf-size', '4M', '--num-subbuf', '8', '--blocking-timeout', 'inf')
    stock('add-context', '-u', '-c', 'c', '-t', 'vpid', '-t', 'vtid')
    stock('enable-event', '-u', '-c', 'c', events)
    stock('start')
    result = execute(command, script, {'LD_PRELOAD': AGENT, 'LTTNG_SPI_CODEMAP': CODEMAP, 'LTTNG_SPI_RULES': rule,
                                       'LTTNG_UST_ALLOW_BLOCKING': '1'})
    stock('stop')
    lost = sum(int(n) & ~(1 << 63) for n in re.findall(r'Discarded events: (\d+)', stock('list', 'whole')))
    stock('destroy', 'whole')
    size = size_of(directory)
    shutil.rmtree(directory, ignore_errors=True)
    if size < 65536:
        raise RuntimeError('nothing was recorded')
    return (*result, size, lost)


def uftrace(command, script):
    """Of a copy that has symbols: uftrace finds functions by their names only."""
    program, options = os.path.realpath(command[0]), ['-P', '.']
    directory, copies = TMP + '/uftrace.data', TMP + '/named-' + os.path.basename(program)
    files = [program] + [os.path.realpath(p) for p in re.findall(r'=> (/\S*sqlite3\S*)', output('ldd', program))]
    options += [word for path in files[1:] for word in ('-P', '.@' + soname(path))]
    if not os.path.isdir(copies):
        os.mkdir(copies)
        output('python3', SOURCE + '/tests/lib/callgrind.py', 'label', copies, '--all', *files)
        for path in files[1:]:
            os.rename(os.path.join(copies, os.path.basename(path)), os.path.join(copies, soname(path)))
    shutil.rmtree(directory, ignore_errors=True)
    result = execute(['uftrace', 'record', '-d', directory, '--no-libcall', '-b', '64M', *options,
                      copies + '/' + os.path.basename(program), *command[1:]], script, {'LD_LIBRARY_PATH': copies})
    size = size_of(directory)
    shutil.rmtree(directory, ignore_errors=True)
    return (*result, size, 0)


def callgrind_calls(command, script):
    out = TMP + '/whole.callgrind'
    execute(['valgrind', '-q', '--tool=callgrind', '--callgrind-out-file=' + out, *command], script)
    total = 0
    with open(out, errors='replace') as stream:
        for line in stream:
            if line.startswith('calls='):
                total += int(line[6:].split()[0])
    return total


VARIANTS = [
    ('untraced', native),
    ('lttng-spi tree, --compact', lambda c, s: tree(c, s, 'tree(main;compact)', 'spi_tree:*')),
    ('lttng-spi tree', lambda c, s: tree(c, s, 'tree(main)', 'lttng_ust_cyg_profile:*')),
    ('uftrace -P . (program and libsqlite3, names given)', uftrace),
]


CLOCK = '''
#include <stdio.h>
#include <time.h>
int main(void)
{
	double best = 1e9;
	for (int round = 0; round < 20; round++) {
		struct timespec from, to;
		unsigned long long sum = 0;
		clock_gettime(CLOCK_MONOTONIC, &from);
		for (int i = 0; i < 1000000; i++)
			sum += __builtin_ia32_rdtsc();
		clock_gettime(CLOCK_MONOTONIC, &to);
		double ns = ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / 1e6 + (sum == 1);
		best = ns < best ? ns : best;
	}
	printf("%f\\n", best);
}
'''


def clock_ns():
    """What it takes to read the processor's clock: each call has an entry's and an exit's."""
    with open(TMP + '/clock.c', 'w') as out:
        out.write(CLOCK)
    output('gcc', '-O2', '-o', TMP + '/clock', TMP + '/clock.c')
    return float(output(TMP + '/clock'))


def measure(name, command, script):
    calls = callgrind_calls(command, script) if shutil.which('valgrind') else 0
    print('\n%s (%d rounds; %s)' % (name, ROUNDS, '%.2f million calls' % (calls / 1e6) if calls else 'no valgrind'), flush=True)
    rows = {variant: [] for variant, _ in VARIANTS}
    why = {}
    for _ in range(ROUNDS):
        for variant, run in VARIANTS:
            if variant in why:
                continue
            try:
                result = run(command, script)
            except (RuntimeError, OSError) as error:
                why[variant] = str(error)
                continue
            if rows['untraced'] and result[1:3] != rows['untraced'][0][1:3]:
                why[variant] = 'status %d, output %s' % (result[1], 'differs' if result[2] != rows['untraced'][0][2] else 'equal')
                continue
            rows[variant].append(result)
    if calls:
        seconds, ns = statistics.median(r[0] for r in rows['untraced']), clock_ns()
        print('  %-50s CPU %7.3f s %6.1fx  (%.1f ns each)' % ('to read the clock twice a call alone would be',
              seconds + calls * 2 * ns / 1e9, 1 + calls * 2 * ns / 1e9 / seconds, ns))
    for variant, _ in VARIANTS:
        results = rows[variant]
        if variant in why or not results:
            print('  %-50s cannot be measured here: %s' % (variant, why.get(variant, 'no result')))
            continue
        ratios = [r[0] / n[0] for r, n in zip(results, rows['untraced'])]
        size = statistics.median(r[4] for r in results)
        print('  %-50s CPU %7.3f s %6.1fx  elapsed %7.3f s%s%s' % (
            variant, statistics.median(r[0] for r in results), statistics.median(ratios),
            statistics.median(r[3] for r in results),
            '  %7.1f MB%s' % (size / 1e6, ', %.1f bytes a call' % (size / calls) if calls else '') if size else '',
            '  (%d events lost)' % sum(r[5] for r in results) if any(r[5] for r in results) else ''), flush=True)


def main():
    script, python = TMP + '/script.sql', TMP + '/script.py'
    with open(script, 'w') as out:
        out.write(sqlite_script())
    measure('sqlite3, 10 000 statements: reach 6x with --compact', ['/usr/bin/sqlite3', '-batch', ':memory:'], script)
    # What is called for the first time is made ready then: of the short run that is the larger part.
    for times, name in (1, 'python3'), (10, 'python3, ten times the work'):
        with open(python, 'w') as out:
            out.write(PYTHON.replace('TIMES', str(times)))
        measure(name + ': reach 6x with --compact', ['/usr/bin/python3', '-S', '-E', python], '/dev/null')


sys.exit(main())
