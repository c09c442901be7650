#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Payload files that come several times: built anew, refused and mended, several agents at once; and what their programs do to descriptors.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc calls payload-calls.c -O1 -fno-optimize-sibling-calls
spi_cc closes payload-closes.c -O1
payload_cc many.so payload-many.c -pthread

# The descriptor that payloads write to stays open whatever the program closes.
for how in each range; do
	spi_trace --tree --lib closes --payload print ./closes $how >out
	is $? 0 "closes $how: status"
	is "$(cat out)" 9 "closes $how: output"
	is "$(grep -c leaf trace.err)" 3 "closes $how: the payload's lines come" || diag "$(cat trace.err)"
done

# count: a forked child counts its own calls.
spi_trace --tree --lib closes --payload count ./closes >out
is "$(grep -w leaf trace.err | awk '{ print $1 }' | sort -n | tr '\n' ' ')" '1 2 ' 'count: parent and child have their own calls' || diag "$(cat trace.err)"

# Children that execute another program, and end at the same time: each one's table is whole, and says what it is of.
gcc -O1 -g -o many -x c - <<-'END'
	#include <sys/wait.h>
	#include <unistd.h>
	__attribute__((noinline, noipa, aligned(16))) int one(int x) { return x + 1; }
	__attribute__((noinline, noipa, aligned(16))) int two(int x) { return x + 2; }
	int main(int argc, char **argv)
	{
		for (int i = 0; i < 20; i++)
			if (!fork()) {
				one(two(i));
				if (argc > 1)
					execv(argv[1], argv + 1);
				_exit(0);
			}
		while (wait(NULL) > 0)
			;
		return 0;
	}
END
for program in '' /bin/true; do
	# shellcheck disable=SC2086
	spi_trace -f one -f two --payload count ./many $program
	is "$(awk '/^count of many \([0-9]+\):$/ { printf "\n"; next } / none of / { next } { printf " %s %s", $2, $1 }' trace.err | sort | uniq -c | tr -s ' \n' ' ')" \
		' 1 20 one 1 two 1 ' "count: tables of children${program:+ that execute $program}" || diag "$(cat trace.err)"
done

spi_trace -f two --payload count /bin/true
is $? 1 'count: a function that the program does not have'
gcc -O0 -g -o never -x c - <<<'int two(int x) { return x; } int main(int argc, char **argv) { return argc > 1 ? two(argc) : argv == 0; }'
spi_trace -f two --payload count ./never
is "$(cat trace.err)" 'count: none of the functions was called' 'count: none is called, which is said'

# count: at a signal, by its name, that the program has a handler of; and again with other arguments.
gcc -O1 -g -o signalled -x c - <<-'END'
	#include <signal.h>
	#include <stdio.h>
	#include <unistd.h>
	static volatile int got;
	static void handler(int number) { got += number; }
	__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }
	int main(void)
	{
		signal(SIGUSR1, handler);
		leaf();
		raise(SIGUSR1);
		leaf();
		printf("%d\n", got);
		return 0;
	}
END
spi_trace -f leaf --payload count --payload-arg signal=USR1 ./signalled >out
is "$(cat out)" 10 'count, at a signal: the program has its own handler'
is "$(grep -w leaf trace.err | awk '{ print $1 }' | tr '\n' ' ')" '1 2 ' 'count, at a signal: printed then, and at the end' || diag "$(cat trace.err)"

env LD_PRELOAD="$PWD/many.so" ./calls 5 >out 2>said
is "$(grep -cx 'calls 9' said)" 4 'four agents made by four threads: each has all calls' || diag "$(cat said)"
env LD_PRELOAD="$PWD/many.so" NAMES=16 ./calls 5 >out 2>said
like "$(cat said)" '^goes: $' 'sixteen names fit'
env LD_PRELOAD="$PWD/many.so" NAMES=17 ./calls 5 >out 2>said
check 'seventeen do not: the agent does not go' grep -q '^refused: more libraries or functions' said

# One process, in which files come one after the other.
sed 's/"enter %s/"first %s/' "$SPI_PROGRAMS/payload-says.c" >first.c
sed 's/"enter %s/"second %s/' "$SPI_PROGRAMS/payload-says.c" >second.c
up=../../../../../../../../
rm -f out
mkfifo in
./calls 5 wait <in >out 2>target.err &
target=$!
exec {input}>in
spi_wait 20 file_has out ready
instrumented() { ! python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$1" calls >/dev/null 2>&1; }
# attach FILE - until instrumented, or refused
attach() {
	"$SPI_LTTNG" trace -f leaf --payload "$PWD/$1" -p "$target" >said 2>&1 &
	front=$!
	spi_wait 20 eval 'instrumented "$target" || ! kill -0 "$front" 2>/dev/null'
}
leave() {
	kill -INT "$front" 2>/dev/null
	wait "$front"
}
gcc -shared -fPIC -o silent.so -x c - <<<'int nothing;'
sed 's/LTTNG_SPI_VERSION }/LTTNG_SPI_VERSION + 1 }/' "$SPI_PROGRAMS/payload-says.c" >newer.c
payload_cc newer.so "$up$PWD/newer.c"
for i in 1 2 3 4 5 6 7 8 9 10; do
	"$SPI_LTTNG" trace -f leaf --payload "$PWD/silent.so" -p "$target" >said 2>&1
done
like "$(cat said)" 'does not call spi_agent_go' 'refused ten times: the same reason' || diag "$(cat said)"
payload_cc says.so "$up$PWD/first.c"
attach says.so
check 'after that another one comes' instrumented "$target" || diag "$(cat said)"
leave
payload_cc says.so "$up$PWD/second.c"
attach says.so
check 'built anew: it comes again' instrumented "$target" || diag "$(cat said)"
echo go >&"$input"
spi_wait 20 file_has said second || diag "$(cat said)"
exec {input}>&-
wait "$target"
is $? 0 'built anew: status' || diag "$(cat target.err)"
wait "$front"
is "$(grep -c '^second leaf' said)" 9 'built anew: the new one runs' || diag "$(cat said)"
is "$(grep -c '^first' said)" 0 'built anew: and not the old one'
tap_done
