#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""`make bench`, part ipc: CPU time that recording messages adds to a call that sends or receives, beside strace and bpftrace.

One thread writes and reads 64 bytes in turn, so a call is either. Each round measures all ways in turn, and one without tracing. Printed are
medians of the rounds, less those without tracing. Nothing but messages is recorded.
"""
import os
import shutil
import statistics
import subprocess
import sys

BUILD = os.environ['SPI_TOP_BUILDDIR']
ROUNDS = max(7, int(os.environ.get('SPI_BENCH_ROUNDS', '7')))
PROGRAM = r'''
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
static void measure(const char *kind, long turns)
{
	struct timespec a, b;
	char buffer[64] = "";
	int fds[2], is_file = !strcmp(kind, "file");

	if (is_file)
		fds[0] = fds[1] = memfd_create("file", 0);
	else if (!strcmp(kind, "pipe") ? pipe(fds) : socketpair(AF_UNIX, !strcmp(kind, "datagram") ? SOCK_DGRAM : SOCK_STREAM, 0, fds))
		exit(1);
	for (long i = -1000; i < turns; i++) {
		if (!i)
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
		if (write(fds[1], buffer, sizeof(buffer)) != sizeof(buffer))
			exit(1);
		if (is_file ? i % 1000 == 0 && lseek(fds[0], 0, SEEK_SET) : read(fds[0], buffer, sizeof(buffer)) != sizeof(buffer))
			exit(1);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	fprintf(stderr, "%.2f\n", ((b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec) / turns / (is_file ? 1 : 2));
}

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		measure(argv[i], atol(argv[1]));
	return 0;
}
'''
TURNS = 100000
KINDS = ['pipe', 'unix', 'datagram', 'file']


def measure(command, turns, **options):
    command += ['./messages-bench', str(turns), *KINDS]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False, **options)
    numbers = [float(line) for line in done.stderr.splitlines() if line.replace('.', '', 1).isdigit()]
    if len(numbers) != len(KINDS):
        sys.exit('  %s: status %d: %s' % (' '.join(command), done.returncode, done.stderr[-300:]))
    return numbers


def spi(channels):
    def run():
        environment = dict(os.environ, LD_PRELOAD=BUILD + '/liblttng-spi/.libs/liblttng-spi.so.0',
                           LTTNG_SPI_CODEMAP=BUILD + '/codemap/spi-codemap', LTTNG_SPI_RULES='tree(main;ipc=%s)' % channels)
        for command in ('create bench -o messages.trace', 'enable-channel -u c --subbuf-size 4M --num-subbuf 8',
                        'enable-event -u -c c spi_ipc:*', 'start'):
            subprocess.run(['lttng', *command.split()], stdout=subprocess.DEVNULL, check=True)
        values = measure([], TURNS, env=environment)
        subprocess.run(['lttng', 'destroy', 'bench'], stdout=subprocess.DEVNULL, check=True)
        shutil.rmtree('messages.trace', ignore_errors=True)
        return values
    return run


def main():
    subprocess.run(['gcc', '-O2', '-x', 'c', '-', '-o', 'messages-bench'], input=PROGRAM, text=True, check=True)
    ways = [('plain', lambda: measure([], TURNS)), ('recorded', spi('pipe+unix')), ('of kinds that are not followed', spi('tcp'))]
    if shutil.which('strace'):
        ways.append(('strace -e trace=read,write', lambda: measure(['strace', '-o', '/dev/null', '-e', 'trace=read,write'], TURNS // 50)))
    if shutil.which('bpftrace') and os.geteuid() == 0:
        script = ('tracepoint:syscalls:sys_exit_read, tracepoint:syscalls:sys_exit_write /comm == "messages-bench"/ '
                  '{ printf("%d %d\\n", pid, args->ret); }')
        ways.append(('bpftrace, a line for each', lambda: measure(
            [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'under-bpftrace.py'), script], TURNS // 10)))
    samples = {name: [] for name, _ in ways}
    for _ in range(ROUNDS):
        for name, run in ways:
            samples[name].append(run())
    medians = {name: [statistics.median(values) for values in zip(*rounds)] for name, rounds in samples.items()}
    print('\nipc: ns of CPU time that recording adds to a call that sends or receives 64 bytes, medians of %d rounds' % ROUNDS)
    print('  %-34s' % '' + ''.join('%12s' % kind for kind in KINDS))
    for name, values in medians.items():
        print('  %-34s' % name + ''.join('%12.1f' % (value - (plain if name != 'plain' else 0))
                                         for value, plain in zip(values, medians['plain'])))


main()
