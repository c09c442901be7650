#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""What --budget does to programs (make bench, part `budget`).

CPU time of a program that calls a function of one nanosecond 500 million times, of one
that calls 200 others beside it, and of sqlite3, traced with a budget, and without
tracing in the same round. Printed: the median of the ratios, the budget, how much was
recorded and left out. What spi-codemap takes, which runs beside, is not counted.
"""
import os
import re
import shutil
import statistics
import subprocess

BUILD, SOURCE, TMP = os.environ['SPI_TOP_BUILDDIR'], os.environ['SPI_TOP_SRCDIR'], os.environ['SPI_TMP']
ROUNDS = int(os.environ.get('SPI_BENCH_ROUNDS', '7'))
TICK = os.sysconf('SC_CLK_TCK')

SQL = ['create table t(a integer primary key, b text, c real);', 'begin;']
SQL += ["insert into t values (%d, 'text %d', %d.5);" % (i, i * 7919 % 1009, i % 97) for i in range(40000)]
SQL += ['commit;', 'create index i on t(b);']
SQL += ["select c from t where b = 'text %d' limit 1;" % (i % 1009) for i in range(300000)]
SQL += ['update t set c = c + 1 where a = %d;' % (i * 13 % 4000) for i in range(100000)]
SQL += ['select sum(c) from t;']


def execute(command, environment):
    """(seconds of the program alone, stdout). Its children are spi-codemap."""
    with open(TMP + '/budget.in') as stdin, open(TMP + '/budget.out', 'w+') as out:
        process = subprocess.Popen(command, stdin=stdin, stdout=out, stderr=subprocess.DEVNULL,
                                   env=dict(os.environ, **environment))
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with open('/proc/%d/stat' % process.pid) as stat:
            fields = stat.read().rsplit(')', 1)[1].split()
        if process.wait():
            raise RuntimeError('%s: status %d' % (command[0], process.returncode))
        out.seek(0)
        return (int(fields[11]) + int(fields[12])) / TICK, out.read()


def stock(*command):
    subprocess.run(['lttng', *command], capture_output=True, check=True)


def traced(command, rule, compact):
    directory = TMP + '/budget-trace'
    shutil.rmtree(directory, ignore_errors=True)
    stock('create', 'budget', '-o', directory)
    stock('enable-channel', '-u', 'c', '--subbuf-size', '4M', '--num-subbuf', '8')
    stock('enable-event', '-u', '-c', 'c', 'spi_tree:*' if compact else 'spi_tree:budget,lttng_ust_cyg_profile:*')
    stock('start')
    seconds, out = execute(command, {
        'LD_PRELOAD': BUILD + '/liblttng-spi/.libs/liblttng-spi.so.0', 'LTTNG_SPI_CODEMAP': BUILD + '/codemap/spi-codemap',
        'LTTNG_SPI_RULES': rule})
    stock('destroy', 'budget')
    text = subprocess.run(['babeltrace2', '--plugin-path=' + BUILD + '/bt2/.libs', directory,
                           '--component=e:filter.lttng-spi.expand'], capture_output=True, text=True).stdout
    shutil.rmtree(directory, ignore_errors=True)
    return seconds, out, text.count('func_entry:'), len(re.findall('left_out', text))


def measure(name, command, percent, compact):
    rule = 'tree(main;budget=%d%s)' % (percent, ';compact' if compact else '')
    ratios, calls, left = [], 0, 0
    for _ in range(ROUNDS):
        plain, expected = execute(command, {})
        seconds, out, calls, left = traced(command, rule, compact)
        if out != expected:
            raise RuntimeError(name + ': its output differs')
        ratios.append(seconds / plain)
    print('  %-44s budget %3d %%: slower by %5.1f %% (%.1f to %.1f); %d calls recorded, left out %d times' % (
        name + (', --compact' if compact else ''), percent, 100 * statistics.median(ratios) - 100, 100 * min(ratios) - 100,
        100 * max(ratios) - 100, calls, left), flush=True)


def main():
    programs = SOURCE + '/tests/programs/'
    subprocess.run(['gcc', '-O2', '-g', '-pthread', '-o', TMP + '/busy', programs + 'hot.c', '-x', 'none',
                    programs + 'hot-leaf.c'], check=True)
    with open(TMP + '/budget.in', 'w') as script:
        script.write('\n'.join(SQL) + '\n')
    print('\nA budget (%d rounds): stays below' % ROUNDS)
    for compact in (False, True):
        measure('1 ns, 500 million times', [TMP + '/busy', 'loop', '500000000'], 5, compact)
        measure('the same and 200 others', [TMP + '/busy', 'mixed', '500000000'], 5, compact)
        if shutil.which('sqlite3'):
            measure('sqlite3, 440 000 statements', ['sqlite3', ':memory:'], 20, compact)


main()
