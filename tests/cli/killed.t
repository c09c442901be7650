#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 240
#
# A program that is killed in the middle of an event leaves LTTng a buffer that it cannot read: `lttng trace` does not
# wait for that for long, and says that what is in there is lost. Killed elsewhere, it says nothing of the kind. Who is
# killed where is chance: of 16 threads at work one is in the middle of an event every other time. A thread counts an
# event right after writing it, so one that is killed in between has one more than it says.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
[ -z "${SPI_SANITIZED:-}" ] || skip_all "nothing here depends on the sanitizers"
spi_private "$@"
spi_daemon
tree_tools
cat >hot.c <<'E'
#include <pthread.h>
#include <signal.h>
#include <sched.h>
#include <unistd.h>
static volatile int made[16];
static __attribute__((noipa)) int leaf(int n) { return n + 1; }
static void *runs(void *which)
{
	for (int n = 0;; *(volatile int *) which = n)
		n = leaf(n);
	return which;
}
int main(void)
{
	pthread_t thread;
	for (int i = 0; i < 16; i++)
		pthread_create(&thread, NULL, runs, (void *) &made[i]);
	for (int i = 0; i < 16; i++)
		while (made[i] < 10000)
			sched_yield();
	kill(getpid(), SIGKILL);
}
E
gcc -O1 -g -pthread -o hot hot.c
cut=0 whole=0 odd=
for _ in $(seq 60); do
	rm -rf "$SPI_TMP/t"
	{ timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f leaf --subbuf-size 16M --num-subbuf 4 -o "$SPI_TMP/t" ./hot >traced.out 2>traced.err; } 2>/dev/null
	status=$?
	said=$(sed -nE 's/^Events recorded: ([0-9]+) .*; lost: (.*)$/\1 \2/p' traced.err)
	there=$(babeltrace2 "$SPI_TMP/t" 2>/dev/null | grep -c ' spi:leaf_')
	if [ $status != 137 ]; then
		odd="$odd status $status"
	elif [[ $said == *'cannot be read' ]] && grep -q 'still being destroyed.*killed in the middle of an event' traced.err; then
		cut=$((cut + 1))
	elif [[ $said == *' 0' && there -ge ${said% 0} && there -le $((${said% 0} + 16)) ]]; then	# 16 threads
		whole=$((whole + 1))
	else
		odd="$odd said '$said' there $there"
	fi
	[ $cut -eq 0 ] || [ $whole -eq 0 ] || break
done
is "$odd" '' 'each run says what it lost, or has all'
[ $cut -gt 0 ]
ok $? 'a buffer that cannot be read is said to be lost' || diag "$cut of them, $whole whole"
[ $whole -gt 0 ]
ok $? 'killed elsewhere: all is there, and said to be' || diag "$cut of them, $whole whole"

{ timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace --tree --compact -o "$SPI_TMP/c" ./hot >traced.out 2>traced.err; } 2>/dev/null
grep -q 'killed: the last calls of its threads' traced.err
ok $? 'packed records that a killed program kept back are named' || diag "$(cat traced.err)"
tap_done
