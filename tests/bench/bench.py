#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""The figures of `make bench`: bench.py [PART]..., parts as in PARTS below.

Every comparison is made in one run: each round measures all variants one after
the other (calls.c), seven rounds or more, and what is printed of a variant is
the median of its rounds and the median of its ratios to the static tracepoints
of the same round. A variant that cannot run here is named with the reason.
"""
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time

BUILD, SOURCE = os.environ['SPI_TOP_BUILDDIR'], os.environ['SPI_TOP_SRCDIR']
CODEMAP = BUILD + '/codemap/spi-codemap'
AGENT = BUILD + '/liblttng-spi/.libs/liblttng-spi.so.0'
LTTNG = BUILD + '/cli/lttng'
INJECT = BUILD + '/injector/spi-inject'
ROUNDS = int(os.environ.get('SPI_BENCH_ROUNDS', '7'))
CALLS, CHUNKS, PAUSE_US = 15000, 31, 10000
SLOW_CALLS, SLOW_CHUNKS = 2000, 7           # for tracers that take microseconds a call


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def stock(*command):
    done = run('lttng', *command)
    if done.returncode:
        raise RuntimeError('lttng %s: %s' % (' '.join(command), (done.stderr or done.stdout).strip()))
    return done.stdout


class Session:
    """A stock session with these event rules, recording; `lost` after it ended."""

    def __init__(self, rules, contexts=(), start=True):
        self.rules, self.contexts, self.start, self.lost, self.recorded = rules, contexts, start, 0, False

    def __enter__(self):
        self.directory = os.path.join(os.environ['SPI_TMP'], 'bench-trace')
        stock('create', 'bench', '-o', self.directory)
        stock('enable-channel', '-u', 'c', '--subbuf-size', '4M', '--num-subbuf', '8')
        for context in self.contexts:
            stock('add-context', '-u', '-c', 'c', '-t', context)
        for rule in self.rules:
            stock('enable-event', '-u', '-c', 'c', rule)
        if self.start:
            stock('start')
        return self

    def __exit__(self, *_):
        if self.start:
            stock('stop')
        listing = stock('list', 'bench')
        self.lost = sum(int(n) & ~(1 << 63) for n in re.findall(r'Discarded events: (\d+)', listing))
        stock('destroy', 'bench')
        streams = [os.path.join(root, name) for root, _, names in os.walk(self.directory) for name in names if name.startswith('c_')]
        self.recorded = any(os.path.getsize(stream) for stream in streams)
        shutil.rmtree(self.directory, ignore_errors=True)


class Unusable(Exception):
    """A variant that cannot run on this machine, and why."""


class Variant:
    """One way to trace calls.c; sample(function) -> added ns a call (median over the chunks)."""

    def __init__(self, name, program, rules=(), environment=None, wrapper=(), contexts=(), start=True, slow=False, beside=None):
        self.name, self.program, self.rules, self.wrapper = name, program, rules, wrapper
        self.beside = beside    # the variant that it is held against, too
        self.environment, self.contexts, self.start, self.slow = environment or {}, contexts, start, slow
        self.why = None

    def command(self, function):
        calls, chunks = (SLOW_CALLS, SLOW_CHUNKS) if self.slow else (CALLS, CHUNKS)
        wrapper = [word.replace('FUNCTION', 'work_' + function) for word in self.wrapper]
        return wrapper + ['./' + self.program, function, str(calls), str(chunks), str(PAUSE_US)]

    def execute(self, function):
        environment = {k: v.replace('FUNCTION', 'work_' + function) for k, v in self.environment.items()}
        if 'LD_PRELOAD' in environment and not os.path.exists(environment['LD_PRELOAD']):
            raise Unusable('%s is not there' % environment['LD_PRELOAD'])
        done = run(*self.command(function), env=dict(os.environ, **environment), stdin=subprocess.DEVNULL)
        match = re.search(r'^(-?[\d.]+) (-?[\d.]+) ([\d.]+)$', done.stdout, re.M)
        if not match:
            raise Unusable((done.stderr or done.stdout or 'status %d' % done.returncode).strip().splitlines()[-1][:150])
        return float(match.group(2))

    def sample(self, function):
        if not self.rules:
            return self.execute(function), 0
        rules = [rule.replace('FUNCTION', 'work_' + function) for rule in self.rules]
        with Session(rules, self.contexts, self.start) as session:
            value = self.execute(function)
        if self.start and not session.recorded:
            raise Unusable('nothing was recorded')
        return value, session.lost


def spi(name, rules=('spi:FUNCTION*',), **more):
    return Variant(name, 'calls', rules, {'LD_PRELOAD': AGENT, 'LTTNG_SPI_CODEMAP': CODEMAP,
                                          'LTTNG_SPI_RULES': more.pop('spi_rule', 'FUNCTION')}, **more)


def ratio(values, reference):
    """The median of the rounds' ratios, as text; none where one of them was cut short."""
    if len(reference) != len(values) or min(reference) <= 0:
        return ''
    return '%.2fx' % statistics.median(v / r for v, r in zip(values, reference))


def compare(title, function, variants):
    """Interleaved rounds; the first variant is what the others are held against."""
    print('\n%s (added ns a call, %d interleaved rounds)' % (title, ROUNDS))
    samples = {v: [] for v in variants}
    lost = {v: 0 for v in variants}
    for _ in range(ROUNDS):
        for variant in variants:
            if variant.why:
                continue
            try:
                value, gone = variant.sample(function)
                samples[variant].append(value)
                lost[variant] += gone
            except (Unusable, RuntimeError, OSError) as error:
                variant.why = str(error)
    reference = samples[variants[0]]
    for variant in variants:
        values = samples[variant]
        if variant.why or not values:
            print('  %-58s cannot be measured here: %s' % (variant.name, variant.why))
            continue
        text = '  %-58s min %8.1f  median %8.1f  %6s' % (
            variant.name, min(values), statistics.median(values), ratio(values, reference))
        if variant.beside and ratio(values, samples[variant.beside] or [0]):
            text += ', %s of %s' % (ratio(values, samples[variant.beside]), variant.beside.name.split()[0])
        if lost[variant]:
            text += '  (%d events lost)' % lost[variant]
        print(text, flush=True)


def part_entry():
    for function, text in (('i2', '2 ints'), ('i6', '6 ints'), ('s30', 'one string of 30 characters')):
        compare('A typed entry, %s: reach 0.80x' % text, function, [
            Variant('static tracepoint', 'calls-static', ['bench:FUNCTION_entry']),
            spi('lttng-spi, unmodified program', ['spi:FUNCTION_entry']),
        ])


CYG = '/usr/lib/x86_64-linux-gnu/liblttng-ust-cyg-profile%s.so.1'


def part_pair():
    contexts = ('vpid', 'vtid')
    compare('Entry and exit, 2 ints + 1: pair reach 0.90x, one event 0.55x', 'i2', [
        Variant('static tracepoint pair', 'calls-static', ['bench:FUNCTION*']),
        spi('lttng-spi pair, unmodified program'),
        spi('lttng-spi --one-event', ['spi:FUNCTION'], spi_rule='call(FUNCTION;one-event)'),
        spi('lttng-spi pair, backtrace of all its frames', spi_rule='call(FUNCTION;backtrace)'),
        Variant('-finstrument-functions, lttng-ust-cyg-profile', 'calls-cyg', ['lttng_ust_cyg_profile*:*'],
                {'LD_PRELOAD': CYG % ''}),
        Variant('-finstrument-functions, lttng-ust-cyg-profile-fast', 'calls-cyg', ['lttng_ust_cyg_profile*:*'],
                {'LD_PRELOAD': CYG % '-fast'}),
        Variant('uftrace -P, unmodified program', 'calls', wrapper=uftrace()),
        Variant('uftrace -P with arguments and result', 'calls',
                wrapper=uftrace('-A', 'FUNCTION@arg1/i32,arg2/i32', '-R', 'FUNCTION@retval/i32')),
    ])
    compare('The same with the contexts vpid and vtid', 'i2', [
        Variant('static tracepoint pair', 'calls-static', ['bench:FUNCTION*'], contexts=contexts),
        spi('lttng-spi pair', contexts=contexts),
    ])


def uftrace(*more):
    return ['uftrace', 'record', '-d', os.environ['SPI_TMP'] + '/uftrace.data', '--no-libcall', '-b', '64M', '-P', '^FUNCTION$',
            *more]


def part_uprobes():
    base = [Variant('static tracepoint pair', 'calls-static', ['bench:FUNCTION*'], slow=True),
            spi('lttng-spi pair', slow=True)]
    group = 'perf probe -q -x ./calls work_i2 a b && perf probe -q -x ./calls "work_i2%return" \'$retval\''
    added = run('bash', '-c', group)
    data = os.environ['SPI_TMP'] + '/perf.data'
    perf = Variant('uprobe and uretprobe, perf record', 'calls', slow=True,
                   wrapper=['perf', 'record', '-q', '-o', data, '-e', 'probe_calls:work_i2*', '--'])
    if added.returncode:
        perf.why = (added.stderr.strip().splitlines() or ['perf probe fails'])[-1][:150]
    script = 'uprobe:./calls:work_i2 { @e = count(); } uretprobe:./calls:work_i2 { @x = count(); }'
    bpf = Variant('uprobe and uretprobe, bpftrace, counting only', 'calls', slow=True,
                  wrapper=['python3', SOURCE + '/tests/bench/under-bpftrace.py', script])
    try:
        compare('Against uprobes: reach a fifteenth', 'i2', base + [perf, bpf])
    finally:
        run('perf', 'probe', '-q', '-d', 'probe_calls:*')


def part_idle():
    compare('While nothing records: reach 5 ns a pair', 'i2', [
        Variant('no tracer', 'calls'),
        spi('session not started', start=False),
        Variant('no session, agent and rule there', 'calls', (), {'LD_PRELOAD': AGENT, 'LTTNG_SPI_CODEMAP': CODEMAP, 'LTTNG_SPI_RULES': 'FUNCTION'}),
        Variant('after removal', 'calls',
                wrapper=['python3', SOURCE + '/tests/bench/removed.py', 'FUNCTION']),
    ])


def busy():
    """thrower 0 4: a process of four busy threads to attach to."""
    if not os.path.exists('thrower'):
        subprocess.run(['g++', '-O2', '-g', '-pthread', '-o', 'thrower', SOURCE + '/tests/programs/thrower.cc'], check=True)
    target = subprocess.Popen(['./thrower', '0', '4'], stdout=subprocess.PIPE)
    target.stdout.readline()
    return target


def part_attach():
    print('\nAttaching to a busy process of 4 threads (%d times)' % ROUNDS)
    first, stop = [], []
    for _ in range(ROUNDS):
        target = busy()
        shutil.rmtree('attach.d', ignore_errors=True)
        begin = time.time()
        done = run(LTTNG, 'trace', '-f', 't_middle', '-p', str(target.pid), '--duration', '0.5', '-o', 'attach.d')
        text = subprocess.Popen(['babeltrace2', '--clock-seconds', 'attach.d'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                text=True)
        line = text.stdout.readline()
        text.kill()
        text.wait()
        match = re.match(r'\[([\d.]+)\]', line)
        if done.returncode or not match:
            print('  lttng trace -p: %s' % (done.stderr.strip().splitlines() or ['no events'])[-1])
        else:
            first.append((float(match.group(1)) - begin) * 1e3)
        target.terminate()
        target.wait()
        target = busy()
        done = run(INJECT, 'pid', str(target.pid))
        match = re.search(r'(\d+(?:\.\d+)?) ?us', done.stdout + done.stderr)
        if match:
            stop.append(float(match.group(1)))
        else:
            print('  spi-inject: %s' % (done.stderr or done.stdout).strip())
        target.terminate()
        target.wait()
    for name, unit, values in (('-p to the first event', 'ms', first), ('one thread stopped (reach 500 us)', 'us', stop)):
        if values:
            print('  %-58s min %8.1f  median %8.1f %s' % (name, min(values), statistics.median(values), unit))


def measured(command):
    """(seconds, peak resident MB of the largest process, status)"""
    begin = time.time()
    pid = os.fork()
    if pid == 0:
        null = os.open('/dev/null', os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        child = subprocess.run(command)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        with open(os.environ['SPI_TMP'] + '/peak', 'w') as out:
            out.write(str(peak))
        os._exit(child.returncode & 255)
    status = os.waitpid(pid, 0)[1]
    with open(os.environ['SPI_TMP'] + '/peak') as peak:
        return time.time() - begin, int(peak.read()) / 1024, os.waitstatus_to_exitcode(status)


CEPH_EARLY = '_ZN3OSD13HeartbeatInfo15clear_mark_downEP10Connection'     # where in .debug_info their units lie: 2 %
CEPH_MIDDLE = '_ZNK11md_config_t7get_valERK12ConfigValuesSt17basic_string_viewIcSt11char_traitsIcEEPPci'  # 48 %
CEPH_NEAR_END = '_ZN7rocksdb19CompositeEnvWrapper14GetCurrentTimeEPl'   # 92 %
CEPH_LATE = '_ZN7rocksdb19TransactionBaseImpl19RollbackToSavePointEv'   # 97 %


def list_line(path, name, commands, before=None):
    """Median of as many runs as there are commands, `before` each."""
    seconds, peaks, bad = [], [], 0
    for command in commands:
        if before:
            before()
        took, peak, status = measured(command)
        seconds.append(took)
        peaks.append(peak)
        bad = bad or status
    print('  %-40s %-34s %6.2f s %5.0f MB%s' % (path, name, statistics.median(seconds), max(peaks),
                                                '  status %d' % bad if bad else ''))


def part_list():
    print('\nListing what can be traced: reach 3 s and 300 MB the first time, 0.3 s for one function')
    cache = os.environ['SPI_TMP'] + '/cache'
    os.environ['LTTNG_SPI_CACHE'] = cache

    def forget(kind=''):
        for name in os.listdir(cache) if os.path.isdir(cache) else ():
            if name.endswith(kind):
                os.unlink(os.path.join(cache, name))

    def one(path, function, root=()):
        return [CODEMAP, 'map', *root, '--output', '/dev/null', '--pattern', function, path]

    libc = '/lib/x86_64-linux-gnu/libc.so.6'
    for path, function in ((libc, 'fopen'), (shutil.which('python3-dbg'), 'PyLong_FromLong')):
        if not path:
            continue
        lists = [[LTTNG, 'trace', '-l', path]] * 3
        list_line(path, '-l, first time', lists, forget)
        list_line(path, '-l, cached', lists)
        list_line(path, "one function's types, after -l", [one(path, function)] * 3, lambda: forget('-map'))
        list_line(path, "one function's types, no cache", [one(path, function)] * 3, forget)
    path, root = shutil.which('ceph-osd'), ()
    if not path and os.environ.get('SPI_CEPH_ROOT'):
        path, root = '/usr/bin/ceph-osd', ('--root', os.environ['SPI_CEPH_ROOT'])
    if not path:
        print('  no figures for ceph-osd: ' + (os.environ.get('SPI_CEPH_WHY') or 'it is not installed'))
        return
    lists = [[CODEMAP, 'list', *root, path]] * 3
    list_line(path, '-l, first time', lists, forget)
    list_line(path, '-l, cached', lists)
    list_line(path, "one function's types, after -l", [one(path, CEPH_LATE, root)] * 3, lambda: forget('-map'))
    for name, function in (('early', CEPH_EARLY), ('in the middle', CEPH_MIDDLE), ('late', CEPH_LATE)):
        list_line(path, 'one function %s, no cache' % name, [one(path, function, root)] * 3, forget)
    for name, function in (('early', CEPH_EARLY), ('in the middle', CEPH_MIDDLE), ('late', CEPH_NEAR_END)):
        list_line(path, 'another one %s, after that' % name, [one(path, function, root)] * 3, lambda: forget('-map'))


def part_detach():
    done = run('python3', SOURCE + '/tests/bench/detach.py', '1000')
    print('\nDetaching 1 000 functions that 4 threads run: reach 100 ms\n' + (done.stdout or done.stderr).rstrip())


TREE = 'tree(main;exclude=base_*%s)'    # what the loop is held against is not recorded


def part_tree():
    contexts = ('vpid', 'vtid')
    cyg = ['lttng_ust_cyg_profile*:func_*']
    other = Variant('uftrace -P, unmodified program', 'calls', wrapper=uftrace())
    compare('A call of a tree, entry and exit: reach 1.0x, --compact 0.22x of uftrace', 'i2', [
        Variant('-finstrument-functions, lttng-ust-cyg-profile', 'calls-cyg', cyg, {'LD_PRELOAD': CYG % ''}, contexts=contexts),
        Variant('-finstrument-functions, lttng-ust-cyg-profile-fast', 'calls-cyg', cyg, {'LD_PRELOAD': CYG % '-fast'},
                contexts=contexts),
        other,
        spi('lttng-spi tree, unmodified program', cyg, spi_rule=TREE % '', contexts=contexts),
        spi('lttng-spi tree, --compact', ['spi_tree:*'], spi_rule=TREE % ';compact', contexts=contexts,
            beside=other),
        spi('lttng-spi tree, session not started: reach 5 ns', cyg, spi_rule=TREE % '', contexts=contexts, start=False),
    ])
    sys.stdout.flush()
    for more in ('sites.py', 'whole.py'):
        subprocess.run(['python3', SOURCE + '/tests/bench/' + more])


def payload(name, file, what, function='function=FUNCTION;'):
    return Variant(name, 'calls', environment={'LD_PRELOAD': os.path.abspath(file), 'LTTNG_SPI_CODEMAP': CODEMAP,
                                               'LTTNG_SPI_PAYLOAD_ARGS': function + 'do=' + what})


def part_payload():
    library = BUILD + '/liblttng-spi/.libs'
    for file, options in (('payload-plain.so', ['-DFLAGS=0']),
                          ('payload-general.so', ['-DFLAGS=SPI_PAYLOAD_GENERAL_REGISTERS', '-mgeneral-regs-only'])):
        subprocess.run(['gcc', '-O2', '-shared', '-fPIC', '-I' + SOURCE + '/include', SOURCE + '/tests/bench/payload-pair.c',
                        '-o', file, '-L' + library, '-llttng-spi', '-Wl,-rpath,' + library, *options], check=True)
    compare('Payloads of a user; SPI publishes 74 to 300 ns a pair', 'i2', [
        Variant('static tracepoint pair', 'calls-static', ['bench:FUNCTION*']),
        Variant('uftrace -P, unmodified program', 'calls', wrapper=uftrace()),
        payload('empty pair, general registers: reach 5 ns', 'payload-general.so', 'empty'),
        payload('empty pair, any registers: reach 10 ns', 'payload-plain.so', 'empty'),
        payload('an entry that counts, general registers', 'payload-general.so', 'count'),
        payload('an entry that counts, any registers', 'payload-plain.so', 'count'),
        payload('empty pair in a tree, general registers', 'payload-general.so', 'empty', ''),
        payload('empty pair in a tree, any registers', 'payload-plain.so', 'empty', ''),
    ])


def part_budget():
    sys.stdout.flush()
    subprocess.run(['python3', SOURCE + '/tests/bench/budget.py'])


PARTS = {'entry': part_entry, 'pair': part_pair, 'uprobes': part_uprobes, 'idle': part_idle, 'attach': part_attach,
         'list': part_list, 'detach': part_detach, 'tree': part_tree, 'budget': part_budget, 'payload': part_payload}


def main(names):
    with open('/proc/cpuinfo') as cpuinfo:
        model = re.search(r'model name\s*: (.*)', cpuinfo.read()).group(1)
    print('%s, %d CPUs, Linux %s' % (model, os.cpu_count(), os.uname().release))
    for name in names or PARTS:
        if name not in PARTS:
            sys.exit('bench: no part %s; there are: %s' % (name, ' '.join(PARTS)))
        PARTS[name]()


main(sys.argv[1:])
