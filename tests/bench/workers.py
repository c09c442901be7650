#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""How long `lttng trace -f FUNC... -p PID...` takes from Enter until all of it is recorded: `make bench`, part workers.

The processes are workers of one program, which has many libraries and calls twelve functions of its own every few
milliseconds. The end of each wait is in the trace: the latest of the first events of each function in each process. Each
round measures one process and eight, one function and twelve, with and without `workers:` before them, in turn; an empty
cache of code maps comes before every measurement but the last ones. Printed are medians, and how often one process's,
or one function's, of the same round they are.
"""
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

LTTNG, TMP = os.environ['SPI_TOP_BUILDDIR'] + '/cli/lttng', os.environ['SPI_TMP']
ROUNDS = int(os.environ.get('SPI_BENCH_ROUNDS', '7'))
LIBRARIES, FUNCTIONS, WORKERS = 30, 12, 8
REACH_PROCESSES, REACH_FUNCTIONS = 1.5, 1.2


def compile_c(output, text, *options):
    subprocess.run(['gcc', '-O1', '-g', '-o', output, '-xc', '-', '-xnone', *options], input=text, text=True, check=True)


def build():
    for k in range(LIBRARIES):
        compile_c('libpart%d.so' % k, ''.join('int part%d_%d(int a) { return a + %d; }\n' % (k, i, i) for i in range(300)),
                  '-shared', '-fPIC')
    steps = range(FUNCTIONS)
    compile_c('workers', '#include <unistd.h>\n' +
              ''.join('__attribute__((noipa)) int step%d(int a) { return a + %d; }\n' % (i, i) for i in steps) +
              'int main(void) { for (;;) { ' + ' '.join('step%d(1);' % i for i in steps) + ' usleep(5000); } }\n',
              '-L.', '-Wl,-rpath,' + os.getcwd(), '-Wl,--no-as-needed', *['-lpart%d' % k for k in range(LIBRARIES)],
              '-lstdc++', '-lm')


def wait_recorded(pids, functions, prefix, is_cached):
    """Seconds from Enter until the last of them had its first event."""
    if not is_cached:
        shutil.rmtree(TMP + '/workers-cache', ignore_errors=True)
    shutil.rmtree('workers-trace', ignore_errors=True)
    command = [LTTNG, 'trace', '--duration', '0.3', '-o', 'workers-trace']
    for i in range(functions):
        command += ['-f', '%sstep%d' % (prefix, i)]
    for pid in pids:
        command += ['-p', str(pid)]
    begin = time.time()
    done = subprocess.run(command, env=dict(os.environ, XDG_CACHE_HOME=TMP + '/workers-cache'), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ['status %d' % done.returncode])[-1])
    text = subprocess.run(['babeltrace2', '--clock-seconds', 'workers-trace'], capture_output=True, text=True).stdout
    first = {}
    for at, name, pid in re.findall(r'^\[(\d+\.\d+)\].* spi:(step\d+)_entry: .*?vpid = (\d+)', text, re.M):
        first.setdefault((name, pid), float(at))
    if len(first) != len(pids) * functions:
        raise RuntimeError('%d functions of %d recorded' % (len(first), len(pids) * functions))
    return max(first.values()) - begin


def main():
    build()
    workers = [subprocess.Popen(['./workers']) for _ in range(WORKERS)]
    pids = [worker.pid for worker in workers]
    shapes = [(n, f, p, c) for p, c in (('', 0), ('workers:', 0), ('', 1)) for n, f in
              ((1, 1), (1, FUNCTIONS), (WORKERS, 1), (WORKERS, FUNCTIONS))]
    waits = {shape: [] for shape in shapes}
    status = 0
    try:
        for _ in range(ROUNDS):
            for n, f, p, c in shapes:
                waits[n, f, p, c].append(wait_recorded(pids[:n], f, p, c))
        print('\nfrom Enter until recorded, processes with %d libraries' % LIBRARIES)
        for n, f, p, c in shapes:
            own = waits[n, f, p, c]
            by_process = statistics.median(a / b for a, b in zip(own, waits[1, f, p, c]))
            by_function = statistics.median(a / b for a, b in zip(own, waits[n, 1, p, c]))
            print('  %d process%s, %2d function%s %-12s%-8s %6.0f ms, min %6.0f; %.2f of one process (reach %.1f), %.2f of one '
                  'function (reach %.1f)' % (n, 'es' if n > 1 else '  ', f, 's' if f > 1 else ' ', p and 'OBJECT:', 'cached' if c else '',
                                             statistics.median(own) * 1e3, min(own) * 1e3, by_process, REACH_PROCESSES,
                                             by_function, REACH_FUNCTIONS), flush=True)
    except RuntimeError as e:
        print('bench: workers: %s' % e, file=sys.stderr)
        status = 1
    for worker in workers:
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    return status


if __name__ == '__main__':
    sys.exit(main())
