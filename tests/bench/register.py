#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""How long a program linked with lttng-ust waits before its main(): `make bench`, part register.

Each variant has a session daemon of its own, in mount and network namespaces of
its own, and all of them run side by side: so each round starts the program a few
times with every variant in turn, and what the machine does otherwise meets all
alike. A variant with a rule is held against a stock daemon with the same session,
since LTTng itself takes longer when a session is there. Printed are medians: of
the starts, and of the differences to the start beside it in the same round. The
clock differs by more between two starts than the plugin takes of a process that
no rule concerns; what shows that is the time the session daemon itself computes
for a start.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

BUILD, SOURCE = os.environ['SPI_TOP_BUILDDIR'], os.environ['SPI_TOP_SRCDIR']
TMP = os.environ['SPI_TMP']
SESSIOND = BUILD + '/spi-sessiond-plugin/spi-sessiond'
STARTS = 8 * max(7, int(os.environ.get('SPI_BENCH_ROUNDS', '15')))
STORM = 300
STORMS_ASKED = 3

MOUNTS = '''
mount -t tmpfs -o mode=755 tmpfs /run/lttng && mount -t tmpfs -o mode=1777 tmpfs /dev/shm && ip link set lo up || exit 1
"$@" --no-kernel --daemonize >&2 || exit 1
echo ready; exec cat >/dev/null
'''


def wait_for(what, condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit('bench: register: %s did not happen within %d s' % (what, seconds))
        time.sleep(0.01)


class Daemon:
    """A session daemon in namespaces of its own; ends with close()."""

    def __init__(self, name, program, rules=()):
        self.name, self.rules = name, rules
        self.home = os.path.join(TMP, 'register-' + re.sub(r'\W+', '-', name))
        os.makedirs(self.home)
        self.environment = dict(os.environ, HOME=self.home, LTTNG_HOME=self.home, XDG_CACHE_HOME=self.home + '/cache')
        self.holder = subprocess.Popen(['unshare', '-m', '-n', '--propagation', 'private', 'bash', '-c', MOUNTS, 'daemon', program],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment)
        if self.holder.stdout.readline().strip() != 'ready':
            sys.exit('bench: register: %s: no session daemon' % name)
        self.run_directory = '/proc/%d/root/run/lttng/' % self.holder.pid
        if program == SESSIOND:
            wait_for('%s: a broker' % name, lambda: os.path.exists(self.run_directory + 'spi-status'))
        with open(self.run_directory + 'lttng-sessiond.pid') as file:
            self.pid = int(file.read())
        if rules:
            self.lttng('create', 'bench', '-o', self.home + '/trace')
            for rule in rules:
                self.lttng('enable-event', '-u', rule)
            self.lttng('start')

    def inside(self, *command):
        return ['nsenter', '-t', str(self.holder.pid), '-m', '-n', '--wd=' + TMP, *command]

    def lttng(self, *command):
        done = subprocess.run(self.inside('lttng', *command), env=self.environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit('bench: register: %s: lttng %s: %s' % (self.name, ' '.join(command), done.stderr.strip()))

    def start(self, program):
        """(microseconds before main(), whether work() had other code than its file)"""
        done = subprocess.run(self.inside(program), env=self.environment, capture_output=True, text=True)
        match = re.match(r'([\d.]+) (-?\d) ', done.stdout)
        if not match:
            sys.exit('bench: register: %s: %s: %s' % (self.name, program, done.stderr.strip() or done.returncode))
        return float(match.group(1)), match.group(2) == '1'

    def computed(self):
        """Microseconds of processor time of the session daemon's threads, once it is at rest."""
        before, now = None, 0.0
        while before != now:
            before, now = now, 0.0
            for task in os.listdir('/proc/%d/task' % self.pid):
                with open('/proc/%d/task/%s/schedstat' % (self.pid, task)) as file:
                    now += int(file.read().split()[0]) / 1e3
            time.sleep(0.003)
        return now

    def settle(self):
        """
        The end of the first program that had an event: lttng-consumerd then sleeps for 0.2 s at a time until that event's
        description is written, and the session daemon keeps the session's lock meanwhile, whosever program it was.
        """
        while True:
            begin = time.monotonic()
            self.lttng('list', *(['bench'] if self.rules else []))
            if time.monotonic() - begin < 0.05:
                break

    def close(self):
        if self.rules:
            self.lttng('destroy', 'bench')
        os.kill(self.pid, 15)
        wait_for('%s: its end' % self.name, lambda: not os.path.exists(self.run_directory + 'lttng-sessiond.pid'))
        self.holder.stdin.close()
        self.holder.wait()
        shutil.rmtree(self.home, ignore_errors=True)


def fresh_copy(program, number):
    """A copy with another build id: nothing that is known of the program is of use for it."""
    path = '%s-%d' % (program, number)
    with open(program, 'rb') as file:
        image = bytearray(file.read())
    note = image.find(b'\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0') + 16
    image[note:note + 4] = (0x10000000 + number).to_bytes(4, 'little')
    with open(path, 'wb') as file:
        file.write(image)
    os.chmod(path, 0o755)
    return path


class Variant:
    def __init__(self, name, daemon, against=None, reach=None, fresh=False, traced=False):
        self.name, self.daemon, self.against, self.reach = name, daemon, against, reach
        self.fresh, self.traced, self.waits, self.work, self.missed = fresh, traced, [], [], 0

    def measure(self, program, number):
        path = fresh_copy(program, number) if self.fresh else program
        before = self.daemon.computed()
        wait, changed = self.daemon.start(path)
        if self.fresh:
            os.unlink(path)
        self.work.append(self.daemon.computed() - before)
        self.waits.append(wait)
        self.missed += changed != self.traced

    def report(self):
        text = '  %-61s %6.0f us' % (self.name, statistics.median(self.waits))
        if self.against:
            added = [a - b for a, b in zip(self.waits, self.against.waits)]
            low, _, high = statistics.quantiles(added, n=4)
            text += ', %+6.0f (quarters %+.0f, %+.0f)' % (statistics.median(added), low, high)
            work = statistics.median(self.work) - statistics.median(self.against.work)
            text += ', the daemon computes %+4.0f us' % work
        if self.reach:
            text += ', reach ' + self.reach
        if self.missed:
            text += '  (%d of %d starts %s)' % (self.missed, len(self.waits), 'not traced' if self.traced else 'traced')
        print(text, flush=True)


def part_starts(program):
    rules, other = ('spi:work_entry', 'spi:work_exit'), ('spi:call(work;exec=another)',)
    daemons = {name: Daemon(name, path, has) for name, path, has in (
        ('stock', 'lttng-sessiond', ()), ('plugin', SESSIOND, ()),
        ('stock, another', 'lttng-sessiond', other), ('plugin, another', SESSIOND, other),
        ('stock, rule', 'lttng-sessiond', rules), ('plugin, rule', SESSIOND, rules))}
    v = [Variant('stock daemon, no session', daemons['stock'])]
    v.append(Variant('with the plugin, no session', daemons['plugin'], v[0], '50 us'))
    v.append(Variant("stock daemon, a session with a rule of another's", daemons['stock, another']))
    v.append(Variant("with the plugin, a rule of another's", daemons['plugin, another'], v[2], '50 us'))
    v.append(Variant('stock daemon, a session with two rules', daemons['stock, rule']))
    v.append(Variant('with the plugin, instrumented, code map known', daemons['plugin, rule'], v[4], '5 ms', traced=True))
    v.append(Variant('with the plugin, instrumented, program seen the first time', daemons['plugin, rule'], v[4], fresh=True,
                     traced=True))
    try:
        for each in v:      # buffers are made, code maps written
            each.daemon.start(program)
        for number in range(STARTS):
            for each in v:
                each.measure(program, number)
    finally:
        for daemon in daemons.values():
            daemon.close()
    print('\nFrom the first instruction of the program to main() (%d interleaved rounds)' % STARTS)
    for each in v:
        each.report()


class Storm:
    """
    STORM programs that start at once in a daemon's namespaces, in a session of their own (setsid): as from another terminal
    than where `lttng` is asked, or from the service manager. The kernel shares the processors among sessions (autogroup).
    Or, not `apart`, from the very shell of who asks, whose commands then wait for their turn among all of them.
    """

    def __init__(self, daemon, program, apart=True):
        script = 'for ((i = 0; i < %d; i++)); do %s >"$1/out.$i" & done; wait' % (STORM, program)
        self.daemon = daemon
        self.apps = subprocess.Popen(daemon.inside('bash', '-c', script, 'storm', daemon.home), env=daemon.environment,
                                     start_new_session=apart)

    def report(self):
        """How long they waited, and how many were instrumented before main()."""
        self.apps.wait()
        outputs = [open('%s/out.%d' % (self.daemon.home, i)).read().split() for i in range(STORM)]
        waits = sorted(float(out[0]) / 1e3 for out in outputs)
        return 'before main(): median %6.0f ms, longest %6.0f ms; traced %d' % (
            statistics.median(waits), waits[-1], sum(out[1] == '1' for out in outputs))


def storm_lists(name, program, path, rules, apart=True):
    """`lttng list` over and over meanwhile: a program that has to start itself."""
    daemon = Daemon(name, path, rules)
    daemon.start(program)
    storm, times = Storm(daemon, program, apart), []
    while storm.apps.poll() is None:
        begin = time.monotonic()
        daemon.lttng('list')
        times.append((time.monotonic() - begin) * 1e3)
    report = storm.report()
    daemon.close()
    print('  %-40s lttng list: median %6.1f ms, longest %6.1f ms (%d times); %s' % (
        name, statistics.median(times), max(times), len(times), report), flush=True)


def storm_asked(name, program, path, rules, client):
    """The daemon's answers to a client that runs already, each storm's median and longest."""
    daemon, medians, longest, report = Daemon(name, path, rules), [], [], ''
    daemon.start(program)
    daemon.settle()
    for _ in range(STORMS_ASKED):
        asks = subprocess.Popen(daemon.inside(client, *(['bench'] if rules else [])), env=daemon.environment,
                                stdout=subprocess.PIPE, text=True)
        report = Storm(daemon, program).report()
        asks.terminate()
        found = asks.communicate()[0].split()
        if asks.returncode:
            sys.exit('bench: register: %s: the session daemon was asked in vain' % name)
        medians.append(float(found[1]))
        longest.append(float(found[2]))
    daemon.close()
    print('  %-40s answers: median %6.1f ms, longest %s ms; %s' % (
        name, statistics.median(medians), ', '.join('%.1f' % each for each in longest), report), flush=True)


def part_storm(program):
    rules = ('spi:work_entry', 'spi:work_exit')
    client = TMP + '/asks'
    subprocess.run(['gcc', '-O2', '-o', client, SOURCE + '/tests/bench/asks.c', '-llttng-ctl'], check=True)
    both = (('lttng-sessiond', 'stock daemon'), (SESSIOND, 'with the plugin'))
    print('\nThe daemon asked by a client that runs already while %d programs start at once: reach 100 ms' % STORM)
    for path, what in both:
        storm_asked(what + ', no session', program, path, (), client)
        storm_asked(what + ', two rules', program, path, rules, client)
    print('\nlttng list while %d programs start at once' % STORM)
    for path, what in both:
        storm_lists(what + ', no session', program, path, ())
        storm_lists(what + ', two rules', program, path, rules)
        storm_lists(what + ', two rules, from one shell', program, path, rules, apart=False)


def main():
    program = TMP + '/register'
    subprocess.run(['gcc', '-O2', '-g', '-o', program, SOURCE + '/tests/bench/register.c', '-Wl,--no-as-needed',
                    '-Wl,--build-id=sha1', '-llttng-ust'], check=True)
    part_starts(program)
    part_storm(program)


main()
