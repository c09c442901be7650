#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""`make bench`, part memory: what `lttng trace --memory` costs beside lttng-ust's libc wrapper, heaptrack and valgrind.

Each round measures all of them in turn. Printed are medians: of malloc() and free() of one block, ten calls below
main(), which a loop makes; and of a whole run of sqlite3, start-up included. Buffers are large enough that nobody waits.
"""
import os
import shutil
import statistics
import subprocess
import sys
import time

BUILD, SOURCE = os.environ['SPI_TOP_BUILDDIR'], os.environ['SPI_TOP_SRCDIR']
ROUNDS = max(7, int(os.environ.get('SPI_BENCH_ROUNDS', '7')))
LTTNG = BUILD + '/cli/lttng'
WRAPPER = 'liblttng-ust-libc-wrapper.so'
SQL = '''create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000)
insert into t select x, 'value ' || x from c;
create index i on t(b);
select count(*), sum(length(b)) from t where b like '%7%';'''


def quiet(*words, **more):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


def run(words, environment=None):
    """What the program prints, and how long all of it took."""
    begin = time.monotonic()
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, check=False,
                          timeout=600)
    took = time.monotonic() - begin
    if done.returncode:
        sys.exit('  %s: status %d, said %s' % (' '.join(words), done.returncode, done.stderr[-500:]))
    return done.stdout, took


def ours(*more):
    def way(words):
        shutil.rmtree('trace', ignore_errors=True)
        return run([LTTNG, '-q', 'trace', '--memory', *more, '--subbuf-size', '16M', '--num-subbuf', '4', '-o', 'trace',
                    *words])
    return way


def wrapper(words):
    shutil.rmtree('trace', ignore_errors=True)
    quiet('lttng', 'create', 'wrapper', '--output=' + os.path.abspath('trace'))
    quiet('lttng', 'enable-channel', '-u', '--buffers-pid', '--subbuf-size=16M', '--num-subbuf=4', 'c')
    quiet('lttng', 'enable-event', '-u', '-c', 'c', 'lttng_ust_libc:*')
    quiet('lttng', 'add-context', '-u', '-c', 'c', '-t', 'vpid', '-t', 'vtid', '-t', 'ip', '-t', 'procname')
    quiet('lttng', 'start')
    result = run(words, dict(os.environ, LD_PRELOAD=WRAPPER, LTTNG_UST_REGISTER_TIMEOUT='-1'))
    quiet('lttng', 'destroy', 'wrapper')
    return result


def heaptrack(words):
    out, took = run(['heaptrack', '-o', 'heaptrack.out', *words])
    return '\n'.join(line for line in out.splitlines() if line.replace('.', '').isdigit()), took


def main():
    subprocess.run(('gcc', '-O2', '-g', '-o', 'memory', SOURCE + '/tests/bench/memory.c'), check=True)
    ways = [('untraced', run), ('lttng trace --memory', ours()), ('lttng trace --memory --backtrace', ours('--backtrace')),
            ("lttng-ust's libc wrapper", wrapper)]
    if shutil.which('heaptrack'):
        ways.append(('heaptrack', heaptrack))
    if shutil.which('valgrind'):
        ways.append(('valgrind', lambda words: run(['valgrind', '-q', '--leak-check=full', *words])))
    pairs = {name: [] for name, _ in ways}
    whole = {name: [] for name, _ in ways}
    for _ in range(ROUNDS):
        for name, way in ways:
            out, _took = way(['./memory', '100000'])
            pairs[name].append(float(out.split()[-1]))
            if shutil.which('sqlite3'):
                whole[name].append(way(['sqlite3', ':memory:', SQL])[1])
    print('memory: medians of %d rounds' % ROUNDS)
    for name, _ in ways:
        print('  %-34s malloc() and free() %8.0f ns' % (name, statistics.median(pairs[name])) +
              ('   sqlite3 %6.2f s' % statistics.median(whole[name]) if whole[name] else ''))


main()
