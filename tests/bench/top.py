#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""`lttng-spi top` on busy programs: `make bench`, part top.

Cost: two processes of one program do the same work in small steps, in turn, one of them under top; then the other one is.
So a machine that others use takes much the same from both. Printed is how much more CPU time the whole process takes, the
agent included: the median of all steps, and of those of each of the two. It does not have the beginning, when the agent comes
into the process. top has counted calls for some seconds by then. Beside it, which a busy machine changes less: the share of
perf's samples of the process that are in the agent's thread, in code that tracing has brought, or in signals of the kernel.

Rank: top and `perf record` look at the same process for the same seconds. perf's samples within the kernel count to the
function that made the system call, as top's do. Printed are how many of perf's first ten functions are among top's, how many
pairs of these ten, of those that differ by more than chance, stand in the same order, and by how much a share differs at
most. Functions without a symbol are one function of their object here.
"""
import collections
import functools
import glob
import itertools
import math
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import time

BUILD, TMP = os.environ['SPI_TOP_BUILDDIR'], os.environ['SPI_TMP']
STEPS = 4 * int(os.environ.get('SPI_BENCH_ROUNDS', '9'))	# of each process, with top and without
SECONDS = float(os.environ.get('SPI_BENCH_TOP', '20'))	# of samples
STEP = 0.15		# seconds of CPU time

PYTHON = '''
import json, sys, re
text = json.dumps([{"key%d" % i: [i, str(i), None, 1.5 * i]} for i in range(200)])
for line in sys.stdin:
    for _ in range(int(line)):
        json.loads(text); sorted(re.findall("[0-9]+", text), key=int); sum(i * i for i in range(2000))
    print("done", flush=True)
'''


class Program:
    """Work is asked for by a line, and `done` is the answer."""

    def __init__(self, command, unit, begin='', **options):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)
        self.unit = unit
        self.pid = self.process.pid
        self.say(begin)

    def say(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def work(self, count):
        self.say(self.unit(count))
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError('the program has ended')
            if line == 'done\n':
                return

    def end(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()


class Postgres(Program):
    """A backend of pgbench's database, and pgbench's statements by psql."""

    servers = 0

    def __init__(self):
        if not Postgres.servers:
            self.serve()
        Postgres.servers += 1
        super().__init__([self.bin() + '/psql', '-h', '127.0.0.1', '-p', '5499', '-U', 'postgres', '-qAt', 'postgres'],
                         lambda n: ''.join('SELECT abalance FROM pgbench_accounts WHERE aid = %d;\n' % (i * 7919 % 100000 + 1)
                                           for i in range(n)) + '\\echo done\n', 'SELECT pg_backend_pid();\n')
        self.pid = int(self.process.stdout.readline())

    def bin(self):
        return sorted(glob.glob('/usr/lib/postgresql/*/bin'))[-1]

    def serve(self):
        os.chmod('.', 0o755)
        shutil.rmtree('db', ignore_errors=True)
        os.mkdir('db')
        shutil.chown('db', 'postgres')
        self.run('initdb', '-D', 'db', '-A', 'trust')
        self.run('pg_ctl', '-D', 'db', '-w', '-l', 'db/log', '-o', "-p 5499 -c unix_socket_directories='' -c fsync=off", 'start')
        self.run('pgbench', '-h', '127.0.0.1', '-p', '5499', '-U', 'postgres', '-i', '-q', 'postgres')

    def run(self, *command):
        subprocess.run(['setpriv', '--reuid', 'postgres', '--regid', 'postgres', '--clear-groups',
                        self.bin() + '/' + command[0], *command[1:]], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def end(self):
        super().end()
        Postgres.servers -= 1
        if not Postgres.servers:
            self.run('pg_ctl', '-D', 'db', '-w', '-m', 'immediate', 'stop')


class Nginx:
    """One worker, and ab."""

    ports = itertools.count(8099)

    def __init__(self):
        self.port = next(Nginx.ports)
        with open('nginx.conf', 'w') as file:
            file.write('daemon off; worker_processes 1; pid %s/nginx.pid; error_log %s/nginx.log;\n'
                       'events { } http { access_log %s/access.log; keepalive_requests 1000000; gzip on; gzip_min_length 1;\n'
                       'server { listen 127.0.0.1:%d; root %s/www; } }\n' % (TMP, TMP, TMP, self.port, TMP))
        os.makedirs('www', exist_ok=True)
        with open('www/index.html', 'w') as file:
            file.write(''.join('<p>paragraph %d</p>\n' % i for i in range(100)))
        os.chmod('.', 0o755)
        subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=True)
        self.process = subprocess.Popen(['nginx', '-c', TMP + '/nginx.conf', '-p', TMP], stderr=subprocess.DEVNULL)
        while True:
            try:
                socket.create_connection(('127.0.0.1', self.port)).close()
                break
            except OSError:
                time.sleep(0.05)
        workers = ''
        while not workers:
            with open('/proc/%d/task/%d/children' % (self.process.pid, self.process.pid)) as file:
                workers = file.read()
        self.pid = int(workers.split()[0])

    def work(self, count):
        subprocess.run(['ab', '-q', '-k', '-c', '4', '-n', str(count), '-H', 'Accept-Encoding: gzip',
                        'http://127.0.0.1:%d/index.html' % self.port], check=True, capture_output=True)

    def end(self):
        self.process.terminate()
        self.process.wait()


PROGRAMS = {
    'nginx': Nginx,
    'postgres': Postgres,
    'python3': lambda: Program(['/usr/bin/python3', '-c', PYTHON], '{}\n'.format),
    'sqlite3': lambda: Program(
        ['sqlite3'], lambda n: 'SELECT sum(length(b)) FROM t WHERE b LIKE \'%7%\' OR a % 7 = 3 ORDER BY b;\n' * n +
        '.print done\n', 'CREATE TABLE t(a, b); WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 2000)\n'
        ' INSERT INTO t SELECT x, hex(x * 7919) FROM c;\n'),
}

NEEDED = {
    'nginx': ('/usr/sbin/nginx', '/usr/bin/ab'),
    'postgres': ('/usr/lib/postgresql/*/bin/postgres',),
    'python3': ('/usr/bin/python3',),
    'sqlite3': ('/usr/bin/sqlite3',),
}


def cpu(pid):
    return time.clock_gettime(~pid << 3 | 2)


def step(load, units):
    before = cpu(load.pid)
    load.work(units)
    return cpu(load.pid) - before


def perf_begin(load):
    return subprocess.Popen(['perf', 'record', '-e', 'cpu-clock', '-F', '499', '-g', '-o', 'perf.data', '-p', str(load.pid)],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def perf_end(perf):
    """The samples: each the lines of its frames, with the thread's name before."""
    perf.send_signal(signal.SIGINT)
    perf.wait()
    script = subprocess.run(['perf', 'script', '-i', 'perf.data', '-F', 'comm,ip,sym,dso'], capture_output=True, text=True).stdout
    return [sample.strip().splitlines() for sample in script.split('\n\n') if sample.strip()]


def user_frame(sample):
    """(name, file) of the innermost function that is not the kernel's."""
    for frame in sample[1:]:
        match = re.match(r'\s*([0-9a-f]+) (.*) \((.*)\)$', frame)
        if match and int(match[1], 16) < 1 << 47:
            return match[2], match[3]
    return '', ''


def is_tracing(sample):
    return (sample[0].strip() == 'lttng-spi' or re.search(r'liblttng-spi|/top\.so|//anon|/perf-\d+\.map', user_frame(sample)[1]) or
            re.search('sigframe|sigreturn|do_signal|posix_cpu_timer|posixtimer', '\n'.join(sample)))


def cost(twins):
    units = 4
    while step(twins[0], units) < STEP / 2:
        units *= 2
    logs = [0.0, 0.0]
    samples = []
    for phase in (0, 1):
        top = subprocess.Popen([BUILD + '/reader/lttng-spi', 'top', '-p', str(twins[phase].pid), '--count', '1000000'],
                               stdout=subprocess.DEVNULL)
        begin = time.monotonic()
        while time.monotonic() - begin < 10:
            step(twins[phase], units)
        steps = [[step(load, units) for load in twins] for _ in range(STEPS)]
        perf = perf_begin(twins[phase])
        begin = time.monotonic()
        while time.monotonic() - begin < SECONDS / 2:
            step(twins[phase], units)
        samples += perf_end(perf)
        if top.poll() is not None:
            raise RuntimeError('top has ended')
        top.send_signal(signal.SIGINT)
        top.wait()
        logs[phase] = statistics.median(math.log(one[phase] / one[1 - phase]) for one in steps)
    return [math.exp(log) - 1 for log in (sum(logs) / 2, *logs)] + [sum(map(bool, map(is_tracing, samples))) / len(samples)]


@functools.lru_cache(None)
def aliases(path):
    """Names of one function, by each of them."""
    files = [path]
    note = subprocess.run(['readelf', '-n', path], capture_output=True, text=True).stdout
    match = re.search(r'Build ID: (..)(\S+)', note)
    if match:
        files.append('/usr/lib/debug/.build-id/%s/%s.debug' % (match[1], match[2]))
    at = {}
    for file in files:
        for line in subprocess.run(['readelf', '-sW', file], capture_output=True, text=True).stdout.splitlines():
            fields = line.split()
            if len(fields) > 7 and fields[3] in ('FUNC', 'IFUNC') and fields[6] != 'UND':
                at[fields[7].split('@')[0]] = fields[1]
    return at


def function_of(name, path):
    name = name.split('@')[0]
    if name == '[unknown]' or re.match(r'0x|sub_[0-9a-f]+$', name):
        name = 'without a symbol'
    return os.path.basename(path).split('.so')[0], aliases(path).get(name, name)


def perf_shares(samples):
    counts, names, paths = collections.Counter(), {}, {}
    for name, path in map(user_frame, samples):
        if path:
            key = function_of(name, path)
            counts[key] += 1
            names[key] = name
            paths[os.path.basename(path).split('.so')[0]] = path
    return counts, names, paths


def rank(load):
    perf = perf_begin(load)
    top = subprocess.Popen([BUILD + '/reader/lttng-spi', 'top', '-p', str(load.pid), '--no-calls', '--rows', '1000',
                            '--interval', str(SECONDS)], stdout=subprocess.PIPE, text=True)
    while top.poll() is None:
        load.work(20)
    theirs, names, paths = perf_shares(perf_end(perf))
    text = top.stdout.read()
    ours = collections.Counter()
    for share, function, dso in re.findall(r'^ *([\d.]+)% +\S+ +\S+ +\S+(?: [mun]?s)?  (\S.*?) \[([^]]*)\]$', text, re.M):
        ours[function_of(function, paths.get(dso.split('.so')[0], dso))] += float(share)
    total = sum(theirs.values())
    samples = int(re.search(r'([\d]+) samples', text)[1])
    shares = {key: 100 * count / total for key, count in theirs.items()}
    first = [key for key, _ in theirs.most_common(10)]
    mine = [key for key, _ in ours.most_common(10)]
    pairs = [(a, b) for a, b in itertools.combinations(first, 2)
             if shares[a] - shares[b] > 3 * 100 * math.sqrt((shares[a] + shares[b]) / 100 * (1 / samples + 1 / total))]
    right = sum(ours[a] > ours[b] for a, b in pairs)
    if os.environ.get('SPI_BENCH_TOP_SHOW'):
        for key in dict.fromkeys(first + mine):
            print('      %5.1f %5.1f  %s %s' % (shares.get(key, 0), ours[key], names.get(key, key[1]), key[0]))
    return 'of perf\'s first ten %d are top\'s; pairs in order %d of %d; greatest difference %.1f points; %d samples, perf %d' % (
        len(set(first) & set(mine)), right, len(pairs), max(abs(shares[key] - ours[key]) for key in first), samples, total)


def main():
    print('\nlttng-spi top: order beside perf, and CPU time that the process takes more (%d steps)' % (4 * STEPS))
    for name in os.environ.get('SPI_BENCH_TOP_PROGRAMS', ' '.join(PROGRAMS)).split():
        if not all(map(glob.glob, NEEDED[name])):
            print('  %-10s is not installed' % name)
            continue
        twins = [PROGRAMS[name](), PROGRAMS[name]()]
        try:
            print('  %-10s %s' % (name, rank(twins[0])), flush=True)
            print('  %-10s %+.1f %% (%+.1f and %+.1f); by perf %.1f %%' % ('', *[100 * x for x in cost(twins)]), flush=True)
        finally:
            for load in twins:
                load.end()


main()
