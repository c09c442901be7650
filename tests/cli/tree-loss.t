#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Packed records that find no room: the summary says what the trace has, and what is
# lost, whatever was open when it was.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon

cat >many.c <<'C'
#include <stdlib.h>

__attribute__((noinline)) int leaf(int i)
{
	__asm__ volatile("");
	return i * 3;
}

__attribute__((noinline)) int deep(int i, int depth)
{
	int x = leaf(i);

	return depth ? x + deep(i, depth - 1) + 1 : x;
}

int main(int argc, char **argv)
{
	int x = 0;

	for (int i = 0; i < atoi(argv[1]); i++)
		x += deep(i, 700);	/* a batch has some of its calls, not all */
	return x == 1;
}
C
spi_cc many many.c -fno-optimize-sibling-calls
calls=$((600 * 2 * 701 + 1))	# and main

spi_trace --subbuf-size 4096 --num-subbuf 4 --compact --tree=main --lib=many -o out ./many 600
is $? 0 "a ring of 16 KB: exit status" || diag "$(tail -n 5 trace.err)"
number() {	# number TEXT - behind TEXT in the summary
	local n
	n=$(sed -nE "s/.*$1([0-9]+).*/\1/p" trace.err)
	echo "${n:-0}"
}
entries=$(number 'Events recorded: [0-9]+ \(') exits=$(number 'entries, ') lost=$(number 'exits\); lost: ')
lost_calls=$(number 'Lost calls: ') lost_exits=$(number 'Lost exits whose entry was recorded: ')
diag "$entries entries, $exits exits, lost: $lost; $lost_calls calls, $lost_exits exits"
[ "$entries" -gt 2000 ] && [ "$lost_calls" -gt 2000 ]
ok $? "there was loss, and not all is lost"
is "$((entries + lost_calls))" "$calls" "each call is recorded or lost"
is "$lost" "$((2 * lost_calls + lost_exits))" "what is lost of them is what is said to be lost"
is "$((exits + lost_exits + $(number 'had not returned at the end: ')))" "$entries" "an exit is lost by itself where its entry was recorded"
[ "$lost_exits" -le 702 ]
ok $? "readers make up for such exits wherever something follows: $lost_exits are missing"
babeltrace2 --plugin-path="$SPI_TOP_BUILDDIR/bt2/.libs" --component=filter.lttng-spi.expand out >out.txt 2>out.warn
got=$(grep -o 'func_[entryxi]*' out.txt | sort | uniq -c | awk '{ print $2 "=" $1 }' | tr '\n' ' ')
open=$(awk '/func_entry/ { n++ } /func_exit/ { n-- } END { print n + 0 }' out.txt)
is "$got" "func_entry=$entries func_exit=$exits " "the trace has as many as the summary says"
is "$open" "$((entries - exits))" "and leaves open what it says"
tap_done
