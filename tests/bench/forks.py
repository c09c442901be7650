#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""What fork() takes in a traced process, and in one that was traced: `make bench`, part forks.

Each round measures all variants one after the other: untraced, a program with static tracepoints below liblttng-ust-fork.so, and
`lttng trace` in its kinds. Printed are medians of the rounds and of the differences or ratios within a round: fork() until wait() has
returned, for a child that ends, executes a program, or makes twenty traced calls; a shell that makes 400 processes; and a server's
fork() before it was traced, and after.
"""
import os
import shutil
import statistics
import subprocess
import sys
import time

LTTNG, TMP, SOURCE = (os.environ['SPI_TOP_BUILDDIR'] + '/cli/lttng', os.environ['SPI_TMP'], os.environ['SPI_TOP_SRCDIR'])
ROUNDS = int(os.environ.get('SPI_BENCH_ROUNDS', '7'))
CHILDREN, STORM = 60, 400
TREE, COMPACT, FUNCTION = ['--tree'], ['--tree', '--compact'], ['-f', 'work_i2']
STORM_SHELL = 'i=0; while [ $i -lt %d ]; do (:); i=$((i+1)); done' % STORM


def build():
    source = SOURCE + '/tests/bench/forks.c'
    subprocess.run(['gcc', '-O2', '-g', '-o', 'forks', source], check=True)
    subprocess.run(['gcc', '-O2', '-g', '-DSTATIC', '-I' + SOURCE + '/tests/bench', '-o', 'forks-static', source, '-llttng-ust', '-ldl'],
                   check=True)


def output_of(command, environment=None):
    done = subprocess.run(command, env=dict(os.environ, **(environment or {})), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError('%s: %s' % (' '.join(command[:4]), (done.stderr.strip().splitlines() or ['status %d' % done.returncode])[-1]))
    return done.stdout


def traced(options, command):
    shutil.rmtree(TMP + '/forks-trace', ignore_errors=True)
    return output_of([LTTNG, 'trace', *options, '-o', TMP + '/forks-trace', *command])


def with_session(command, environment):
    """Below liblttng-ust-fork.so, the tracepoints recorded."""
    for line in (['create', 'forks', '-o', TMP + '/forks-static-trace'], ['enable-event', '-u', 'bench:*'], ['start']):
        output_of(['lttng', *line])
    try:
        return output_of(command, environment)
    finally:
        output_of(['lttng', 'destroy', 'forks'])
        shutil.rmtree(TMP + '/forks-static-trace', ignore_errors=True)


UST_FORK = {'LD_PRELOAD': 'liblttng-ust-fork.so.1'}


def us_of(text):
    return float(text.split()[-1])


def seconds_of(run):
    begin = time.time()
    run()
    return time.time() - begin


def children_of(what):
    command = ['./forks', what, str(CHILDREN)]
    return {
        'untraced': lambda: us_of(output_of(command)),
        'liblttng-ust-fork.so': lambda: us_of(with_session(['./forks-static', *command[1:]], UST_FORK)),
        '-f work_i2': lambda: us_of(traced(FUNCTION, command)),
        '--tree': lambda: us_of(traced(TREE, command)),
        '--tree --compact': lambda: us_of(traced(COMPACT, command)),
    }


def storm():
    shell = ['sh', '-c', STORM_SHELL]
    linked = {'LD_PRELOAD': 'liblttng-ust.so.1 liblttng-ust-fork.so.1'}
    return {
        'untraced': lambda: seconds_of(lambda: output_of(shell)) * 1e6 / STORM,
        'liblttng-ust-fork.so': lambda: seconds_of(lambda: with_session(shell, linked)) * 1e6 / STORM,
        '--tree': lambda: seconds_of(lambda: traced(TREE, shell)) * 1e6 / STORM,
        '--tree --compact': lambda: seconds_of(lambda: traced(COMPACT, shell)) * 1e6 / STORM,
    }


def compare(title, variants):
    print('\n%s (us a child, %d interleaved rounds)' % (title, ROUNDS))
    samples, whys = {name: [] for name in variants}, {}
    for _ in range(ROUNDS):
        for name, sample in variants.items():
            if name in whys:
                continue
            try:
                samples[name].append(sample())
            except (RuntimeError, OSError) as error:
                whys[name] = error
    base, ust = samples['untraced'], samples['liblttng-ust-fork.so']
    for name, own in samples.items():
        if name in whys:
            print('  %-24s cannot be measured here: %s' % (name, whys[name]))
            continue
        beside = ', %.2f of liblttng-ust-fork.so' % statistics.median(a / b for a, b in zip(own, ust)) if len(ust) == len(own) else ''
        print('  %-24s median %8.0f, untraced and %6.0f%s' %
              (name, statistics.median(own), statistics.median(a - b for a, b in zip(own, base)), beside), flush=True)


def numbers(pid):
    with open('/proc/%d/status' % pid) as lines:
        status = dict(line.split(':', 1) for line in lines)
    return (int(status['Threads']), len(os.listdir('/proc/%d/fd' % pid)), int(status['VmRSS'].split()[0]), int(status['VmSize'].split()[0]))


def last_us(path, count=9):
    with open(path) as lines:
        return statistics.median(float(line) for line in lines.read().splitlines()[-count - 1:-1])


def after(options):
    """A server that forks, before a trace of a second, after it, and after two more."""
    with open('server.out', 'w') as out:
        server = subprocess.Popen(['./forks', 'ends', '50', '100000'], stdout=out)
    try:
        time.sleep(1.5)
        before, was = last_us('server.out'), numbers(server.pid)
        text = []
        for traces in (1, 2):
            for _ in range(traces):
                traced([*options, '-p', str(server.pid), '--duration', '1'], [])
            time.sleep(2)
            now = last_us('server.out')
            text.append('%.0f us (%.2f of before)' % (now, now / before) +
                        ', %+d threads, %+d descriptors, resident %+d kB, address space %+d kB' %
                        tuple(a - b for a, b in zip(numbers(server.pid), was)))
        print('  %-18s before %.0f us; after one trace %s; after three %s' % (' '.join(options), before, text[0], text[1]), flush=True)
    finally:
        server.kill()
        server.wait()


def main():
    build()
    try:
        compare('fork() and wait(), the child ends', children_of('ends'))
        compare('fork() and wait(), the child makes 20 calls', children_of('calls'))
        compare('fork() and wait(), the child executes /bin/true', children_of('executes'))
        compare('a shell that makes %d processes' % STORM, storm())
        print('\na server that forks, and was traced')
        for options in (FUNCTION, TREE, COMPACT):
            after(options)
    except RuntimeError as e:
        print('bench: forks: %s' % e, file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
