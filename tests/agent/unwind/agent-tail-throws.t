#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Exceptions through chains of tail calls, whose return slots all stand at one place
# of the stack: with points at the functions' entries and with a tree's call sites,
# with libgcc's unwinder and LLVM's; chains longer than a chunk of slots, too.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
cat >tails.cc <<'CC'
#include <cstdio>
#include <initializer_list>
#define FN __attribute__((noipa))
static int caught, sum;
FN int thrower(int x) { if (x % 3 == 0) throw x; return x; }
FN int even(int n, int x);
FN int odd(int n, int x) { sum += n; return n ? even(n - 1, x) : thrower(x); }
FN int even(int n, int x) { sum -= n; return n ? odd(n - 1, x) : thrower(x); }
FN __attribute__((optimize("no-optimize-sibling-calls"))) int deep(int level, int n, int x) { return level ? deep(level - 1, n, x) + 1 : even(n, x); }
int main()
{
	for (int x = 0; x < 12; x++)
		for (int n : { 0, 1, 2, 40 })
			for (int level : { 0, 1, 30, 247, 254, 255, 256 })
				try {
					sum += deep(level, n, x);
				} catch (int) {
					caught++;
				}
	std::printf("%d %d\n", caught, sum);
	return 0;
}
CC
g++ -O2 -g -o tails tails.cc || { echo "Bail out! tails.cc does not compile"; exit 1; }
plain=$(./tails)
like "$plain" '^112 ' "the program alone"

thrown() {
	local name=$1 rule=$2
	TREE_EVENTS='lttng_ust_cyg_profile:*,spi:*' tree_record "$PWD/t" "$rule" ./tails >out 2>err </dev/null
	is "$?/$(cat out)" "0/$plain" "$name" || diag "$(tail -n 3 err tree.debug)"
}
thrown "points at entries" 'tails:thrower;tails:odd*;tails:even*;tails:deep*'
spi_read t
[ "$(grep -ac ' spi:even.*_entry: ' t.txt)" -gt 300 ]
ok $? "they have recorded"
thrown "a tree" 'tree(main;lib=tails)'
tree_balanced t "the tree is balanced"
llvm=$(ls /usr/lib/llvm-*/lib/libunwind.so.1 2>/dev/null | tail -n 1)
if [ -n "$llvm" ]; then
	g++ -O2 -g -o tails tails.cc -Wl,--no-as-needed "$llvm" -Wl,-rpath,"${llvm%/*}" || fail "does not link with LLVM's libunwind"
	thrown "LLVM's unwinder, points at entries" 'tails:thrower;tails:odd*;tails:even*;tails:deep*'
	thrown "LLVM's unwinder, a tree" 'tree(main;lib=tails)'
	tree_balanced t "the tree is balanced"
else
	skip "LLVM's unwinder" "not installed"
fi
tap_done
