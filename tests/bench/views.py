#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""What it takes to look at a trace: `make bench`, part views.

13 million calls of one program, recorded as compact records, and by uftrace of the program's -pg build. Each round runs
each view of both in turn, with its output in a file. Printed are medians of CPU time and the most memory; the ratio is
that of the medians.
"""
import os
import shutil
import statistics
import subprocess

BUILD, SOURCE = os.environ['SPI_TOP_BUILDDIR'], os.environ['SPI_TOP_SRCDIR']
TMP = os.environ['SPI_TMP']
ROUNDS = int(os.environ.get('SPI_BENCH_ROUNDS', '7'))
TURNS = os.environ.get('SPI_BENCH_VIEWS', '100800')	# 129 calls each
VIEWS = (
    ('report', ['report'], ['report']),
    ('graph', ['graph'], ['graph']),
    ('calls, replay', ['calls'], ['replay']),
)


def execute(command):
    """(CPU seconds, MB)"""
    with open(TMP + '/views.out', 'wb') as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError('%s: status %d' % (' '.join(command), process.returncode))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    ours, theirs, program = TMP + '/views.trace', TMP + '/views.uftrace', TMP + '/views'
    for name, options in ((program, []), (program + '-pg', ['-pg'])):
        subprocess.run(['gcc', '-O1', '-g', '-o', name, *options, SOURCE + '/tests/bench/views.c'], check=True)
    subprocess.run([BUILD + '/cli/lttng', 'trace', '--tree=main', '--lib', 'views', '--compact', '--subbuf-size', '4M',
                    '--num-subbuf', '16', '-o', ours, program, TURNS], check=True, capture_output=True)
    calls = subprocess.run([BUILD + '/reader/lttng-spi', 'report', '--format=csv', ours], check=True, capture_output=True,
                           text=True).stdout.splitlines()[1:]
    print('\nViews of %.2f million calls (%d rounds)' % (sum(int(row.split(',')[2]) for row in calls) / 1e6, ROUNDS))
    uftrace = shutil.which('uftrace')
    if uftrace:
        subprocess.run([uftrace, 'record', '-d', theirs, '-b', '64M', '--no-libcall', '--no-event', program + '-pg', TURNS],
                       check=True, capture_output=True)
    for name, mine, other in VIEWS:
        rows = []
        for _ in range(ROUNDS):
            rows.append((execute([BUILD + '/reader/lttng-spi', *mine, ours]),
                         execute([uftrace, *other, '-d', theirs]) if uftrace else (float('nan'), 0)))
        us, them = (statistics.median(row[i][0] for row in rows) for i in (0, 1))
        print('  %-16s %6.2f s, %4.0f MB; uftrace %6.2f s; ratio %.2f' % (
            name, us, max(row[0][1] for row in rows), them, us / them), flush=True)
    shutil.rmtree(ours, ignore_errors=True)
    shutil.rmtree(theirs, ignore_errors=True)


main()
