#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# One session after the other records a process, and its channel may be where the last one was in memory: with compact
# records each is told what the numbers in it mean, and none gets the exit of a call that an earlier one had the entry of.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
cat >calls.c <<'C'
#include <stdio.h>
#include <pthread.h>
#include <unistd.h>
__attribute__((noipa)) int slow(int a) { usleep(900000); return a + 1; }
static void *sleeper(void *unused)
{
	for (int i = 0;; i++)
		slow(i);
	return unused;
}
__attribute__((noipa)) int leaf(int a) { return a + 1; }
__attribute__((noipa)) int middle(int a) { return leaf(a) + leaf(a + 1); }
int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sleeper, NULL);
	puts("ready");
	fflush(stdout);
	for (int i = 0;; i++) {
		middle(i);
		if (i % 64 == 0)
			usleep(1000);
	}
}
C
gcc -O1 -pthread -o calls-again calls.c || { echo "Bail out! calls.c does not compile"; exit 1; }
background ./calls-again
for round in 1 2 3 4 5; do
	rm -rf t
	"$SPI_LTTNG" trace --tree=middle --lib calls-again --compact -p "$target" --duration 0.2 -o t 2>trace.err ||
		fail "round $round: status" "$(tail -n 3 trace.err)"
	out=$("$SPI_TMP/calls" --expand "$SPI_EXPAND" --open 2 t 2>problems)
	ok $? "round $round: balanced" || diag "$(head -n 4 problems)"
	diag "$out"
	is "$(grep -c 'left out' problems)" 0 "round $round: all numbers are described"
	is "$(sed -E 's/^entries ([0-9]+) .*/\1/' <<<"$out")" "$(sed -nE 's/.*\(([0-9]+) entries.*/\1/p' trace.err)" "round $round: all calls that were recorded"
done
for round in 1 2 3 4 5; do
	rm -rf t
	"$SPI_LTTNG" trace --tree --lib calls-again -p "$target" --duration 0.6 -o t 2>trace.err ||
		fail "plain, round $round: status" "$(tail -n 3 trace.err)"
	"$SPI_TMP/calls" --open 4 t >out 2>problems
	like "$(cat out)" 'orphans 0 crossed 0 ' "plain, round $round: no exit without its entry" || diag "$(head -n 4 problems)"
done
finish "$target"
tap_done
