#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A payload of a user's own sees parameters and results by name and type, chooses functions, has samples, and is called at a
# signal whose handler the program has, too.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
payload_cc values.so payload-values.c
spi_cc values hist-values.c -fno-optimize-sibling-calls
./values >plain.out

spi_trace -f mixed -f down -f main -f slow -f nothing_back --payload ./values.so ./values >traced.out
is $? 0 'status' || diag "$(cat trace.err)"
same_file traced.out plain.out 'output'
grep '^mixed(' trace.err >calls
is "$(wc -l <calls)" 200 'each call' || diag "$(head trace.err)"
sed -E 's/.*int number = ([^,]*), unsigned char small = ([^,]*), double real = ([^,]*), .*int pair_second = ([^,]*), .*short seventh = ([^,)]*)\)/\1 \2 \3 \5 \4/' \
	calls >seen
awk '$1 == "mixed" { printf "%s %s %g %s %s\n", $2, $3, $4, $5, $6 }' plain.out >truth
same_file seen truth 'parameters by name and type: the values that the program has' || diag "$(head -n 2 calls)"
is "$(grep -c 'it is another' trace.err)" 0 'the same by their names'
grep '^mixed: ' trace.err | sed 's/.* = //' >seen
awk '$1 == "mixed" { print $7 }' plain.out >truth
same_file seen truth 'results' || diag "$(grep -m 2 '^mixed: ' trace.err)"
like "$(grep -m 1 '^mixed: ' trace.err)" '^mixed: long' 'the type of a result' || diag "$(grep -m 2 '^mixed: ' trace.err)"
like "$(cat trace.err)" 'nothing_back:  = error -2' 'a function without a result'
is "$(grep -c 'clock went back' trace.err)" 0 'the clock goes on'
like "$(cat trace.err)" 'main is left out' 'a function that the payload leaves out, with its reason'
is "$(grep slow trace.err)" 'Warning: slow: the payload leaves out what matches' 'a function that the payload leaves out, without a reason'
is "$(grep -c '^samples ' trace.err)" 1 'the end runs once, and not for rules that the payload refuses' || diag "$(grep '^samples ' trace.err)"

# By class: structs, __int128, complex numbers and long double, in registers and on the stack.
for level in -O0 -O2; do
	spi_cc passed passed.c $level
	payload_cc passed.so passed.c -DPAYLOAD
	./passed >plain.out
	spi_trace --tree --lib passed --payload ./passed.so ./passed >both.out
	is $? 0 "arguments of several eightbytes, $level: status" || diag "$(cat trace.err)"
	sort both.out | uniq -c | awk '{ print $1 / 2 }' | sort -u >pairs
	is "$(cat pairs)" 1 "arguments of several eightbytes, $level: each is what the program has" ||
		diag "$(sort both.out | uniq -c | grep -v ' 2 ')"
done

spi_cc timed profiled-time.c
spi_trace -f heavy --payload ./values.so ./timed 300 2 >/dev/null
check 'samples of both threads, each ms of CPU time' awk '/^samples/ { exit !($2 > 300 && $2 < 900) }' trace.err ||
	diag "$(tail -n 3 trace.err)"
like "$(cat trace.err)" 'reason none' 'and none is missing' || diag "$(tail -n 3 trace.err)"
unlike "$(cat trace.err)" 'was taken' 'an interval that is too short is refused'

gcc -O1 -g -o signalled -x c - <<-'END'
	#include <signal.h>
	#include <stdio.h>
	#include <unistd.h>
	static volatile int got;
	static void handler(int number) { got += number; }
	__attribute__((noinline)) int work(int n) { got += n; return n; }
	int main(void)
	{
		struct sigaction now;

		work(100);
		raise(SIGUSR1);
		signal(SIGUSR1, handler);
		raise(SIGUSR1);
		sigaction(SIGUSR1, NULL, &now);
		printf("%d %d\n", got, now.sa_handler == handler);
		fflush(stdout);
		execl("/bin/true", "true", NULL);
		return 1;
	}
END
is "$(spi_trace -f work --payload ./values.so ./signalled)" '110 1' 'a signal: the program has its own handler and sees it' || diag "$(cat trace.err)"
is "$(grep -c '^flush' trace.err)" 2 'a signal: written each time' || diag "$(cat trace.err)"

payload_cc pause.so payload-pause.c
spi_cc values hist-values.c -fno-optimize-sibling-calls
spi_trace -f mixed --payload ./pause.so ./values >/dev/null
is "$(grep '^paused' trace.err)" 'paused 0: 3 3' 'a paused function: its calls go past the payload' || diag "$(cat trace.err)"
spi_trace -f mixed --payload ./pause.so --payload count ./values >/dev/null
is "$(grep '^paused' trace.err)" 'paused -16: 200 200' 'not while another payload has them' || diag "$(cat trace.err)"
like "$(cat trace.err)" ' 200  mixed' 'which gets them all' || diag "$(cat trace.err)"
tap_done
