#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A payload that takes longer than its time limit is switched off and named, wherever it waits; the program goes on.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc calls payload-calls.c -O1 -fno-optimize-sibling-calls
payload_cc slow.so payload-slow.c
./calls 5 >plain.out

for how in lock loop poll; do
	spi_trace --tree --lib calls --payload ./slow.so --payload-arg how=$how timeout $((10 * SPI_PATIENCE)) ./calls 5 >trace.out
	is $? 0 "$how: status" || diag "$(cat trace.err)"
	same_file trace.out plain.out "$how: output"
	like "$(cat trace.err)" 'payload slow.so: .*longer than its time limit: it is switched off' "$how: named" || diag "$(cat trace.err)"
	is "$(grep -c '^call' trace.err)" 1 "$how: it gets no further call" || diag "$(cat trace.err)"
done

env LD_PRELOAD="$PWD/slow.so" LTTNG_SPI_PAYLOAD_ARGS=how=lock timeout $((10 * SPI_PATIENCE)) ./calls 5 >preload.out 2>preload.err
is $? 0 'preloaded: status'
same_file preload.out plain.out 'preloaded: output'
like "$(cat preload.err)" 'payload slow.so: .*time limit: it is switched off' 'preloaded: named, where its text goes' || diag "$(cat preload.err)"

spi_trace --tree --lib calls --payload ./slow.so ./calls 5 >trace.out
is "$(grep -c '^call' trace.err)" 9 'one that is in time gets all calls' || diag "$(cat trace.err)"

# In a forked child as well.
cat >forks.c <<'P'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noipa)) int leaf(int x) { return x; }
int main(void)
{
	int status = 1;

	if (!fork())
		_exit(leaf(0));
	wait(&status);
	printf("child %d\n", status);
	return 0;
}
P
gcc -O1 -o forks forks.c
env LD_PRELOAD="$PWD/slow.so" LTTNG_SPI_PAYLOAD_ARGS=how=loop timeout $((10 * SPI_PATIENCE)) ./forks >preload.out 2>preload.err
is $? 0 'in a forked child: status'
is "$(cat preload.out)" 'child 0' 'in a forked child: it goes on'
# by name, where nothing is recorded in the child
spi_trace -f leaf --payload ./slow.so --payload-arg how=loop ./forks >trace.out
is "$(cat trace.out)" 'child 0' 'in a forked child, a function by name: it goes on' || diag "$(cat trace.err)"
like "$(cat trace.err)" 'slow.so: .*time limit: it is switched off' 'in a forked child, a function by name: named' || diag "$(cat trace.err)"
tap_done
