#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""What a call tree costs a program before its main(), and in memory: `make bench`, part start.

start.c measures one run from execve() to the program's entry point, when all
constructors, the agent's among them, are through. Each round runs every variant
in turn: untraced, with lttng-ust preloaded and nothing else, which registers with
the session daemon and has its buffers mapped, and call trees, for which code maps
come from an analysis (an empty cache) or from the cache. All are in the same
recording session. Printed are medians; `over lttng-ust` is the median of the
differences within a round. Memory is what smaps_rollup says at main() and at the
program's end, over the untraced run's: resident, the proportional share of that,
and what is the process's alone. Most of what is resident are lttng-ust's ring
buffers, which all processes of a user share.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys

BUILD, SOURCE = os.environ['SPI_TOP_BUILDDIR'], os.environ['SPI_TOP_SRCDIR']
AGENT = BUILD + '/liblttng-spi/.libs/liblttng-spi.so.0'
CODEMAP = BUILD + '/codemap/spi-codemap'
TMP = os.environ['SPI_TMP']
ROUNDS = int(os.environ.get('SPI_BENCH_ROUNDS', '7'))


def stock(*command):
    done = subprocess.run(['lttng', *command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError('lttng %s: %s' % (' '.join(command), (done.stderr or done.stdout).strip()))


def tree(rule, cache):
    return {'START_PRELOAD': AGENT, 'LTTNG_SPI_CODEMAP': CODEMAP, 'LTTNG_SPI_RULES': rule, 'XDG_CACHE_HOME': TMP + '/' + cache}


VARIANTS = [
    ('untraced', {}),
    ('lttng-ust alone', {'START_PRELOAD': 'liblttng-ust.so.1'}),
    ('tree --compact, empty cache', tree('tree(main;compact)', 'start-empty')),
    ('tree --compact, cached', tree('tree(main;compact)', 'start-cache')),
    ('tree, cached', tree('tree(main)', 'start-cache')),
]


def once(command, environment):
    """The nine numbers of start.c."""
    if os.path.exists('start.out'):
        os.unlink('start.out')
    shutil.rmtree(TMP + '/start-empty', ignore_errors=True)
    done = subprocess.run(['./start', 'start.out', *command], env=dict(os.environ, **environment), stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode or not os.path.exists('start.out'):
        raise RuntimeError((done.stderr.strip().splitlines() or ['status %d' % done.returncode])[-1][:150])
    with open('start.out') as out:
        return [float(word) for word in out.read().split()]


def measure(name, command):
    print('\n%s' % name, flush=True)
    rows = {variant: [] for variant, _ in VARIANTS}
    once(command, dict(VARIANTS)['tree, cached'])       # fills the cache
    for _ in range(ROUNDS):
        for variant, environment in VARIANTS:
            rows[variant].append(once(command, environment))
    plain, alone = rows['untraced'], rows['lttng-ust alone']
    for variant, _ in VARIANTS:
        r = rows[variant]
        over = [statistics.median(a[i] - b[i] for a, b in zip(r, alone)) / 1e3 for i in (0, 1)]
        memory = [statistics.median(a[i] - b[i] for a, b in zip(r, plain)) / 1e3 for i in range(2, 8)]
        print('  %-28s to main() %8.2f ms, min %8.2f, CPU %7.2f%s' % (
            variant, statistics.median(a[0] for a in r) / 1e3, min(a[0] for a in r) / 1e3, statistics.median(a[1] for a in r) / 1e3,
            '' if variant in ('untraced', 'lttng-ust alone') else '; over lttng-ust %8.2f, CPU %6.2f' % tuple(over)), flush=True)
        if variant != 'untraced':
            print('  %-28s memory  at main() %6.1f MB, share %5.1f, own %5.1f; at the end %6.1f, %5.1f, %5.1f' % ('', *memory), flush=True)


def helper(path):
    """The peak of a process that analyses the object, and that of one that finds its map."""
    shutil.rmtree(TMP + '/start-helper', ignore_errors=True)
    return [once([CODEMAP, 'map', '--tree', '--output', '/dev/null', path], {'LTTNG_SPI_CACHE': TMP + '/start-helper'})[8] / 1e3
            for _ in range(2)]


def largest():
    """The largest program at hand that is linked dynamically and tells its version."""
    programs = {os.path.realpath(entry.path) for entry in os.scandir('/usr/bin') if entry.is_file()}
    for path in sorted(programs, key=os.path.getsize, reverse=True)[:40]:
        with open(path, 'rb') as program:
            if program.read(5) != b'\x7fELF\x02':
                continue
        headers = subprocess.run(['readelf', '-lW', path], capture_output=True, text=True).stdout
        if 'INTERP' not in headers:
            continue
        try:
            if subprocess.run([path, '--version'], capture_output=True, stdin=subprocess.DEVNULL, timeout=10).returncode == 0:
                return path
        except subprocess.TimeoutExpired:
            pass
    return None


def main():
    with open('hello.c', 'w') as source:
        source.write('#include <stdio.h>\nint main(void)\n{\n\treturn puts("hello") < 0;\n}\n')
    subprocess.run(['gcc', '-O2', '-o', 'hello', 'hello.c'], check=True)
    subprocess.run(['gcc', '-O2', '-o', 'start', SOURCE + '/tests/bench/start.c'], check=True)
    stock('create', 'start', '-o', TMP + '/start-trace')
    stock('enable-channel', '-u', 'c', '--subbuf-size', '4M', '--num-subbuf', '8')
    stock('add-context', '-u', '-c', 'c', '-t', 'vpid', '-t', 'vtid')
    stock('enable-event', '-u', '-c', 'c', 'spi_tree:*,lttng_ust_cyg_profile:*')
    stock('start')
    print('\nBefore main(), and memory (%d interleaved rounds): reach 3 ms for git, cached' % ROUNDS)
    programs = [('hello', ['./hello']), ('git --version', ['git', '--version']), ('python3 -S -E -c 0', ['python3', '-S', '-E', '-c', '0']),
                ('gdb --version', ['gdb', '-nx', '--version'])]
    big = largest()
    if big:
        programs.append(('%s --version, %.0f MB' % (big, os.path.getsize(big) / 1e6), [big, '--version']))
    for name, command in programs:
        if not shutil.which(command[0]):
            print('\n%s cannot be measured here: it is not installed' % name)
            continue
        try:
            measure(name, command)
        except (RuntimeError, subprocess.SubprocessError) as error:
            print('  cannot be measured here: %s' % error)
        path = os.path.realpath(shutil.which(command[0]))
        print('  %-28s memory  %.0f MB at most while it analyses the program, %.0f MB with its map in the cache' % (
            'spi-codemap', *helper(path)), flush=True)
    stock('destroy', 'start')


sys.exit(main())
