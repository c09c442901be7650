#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# timeout: 90
#
# Rules of several sessions in one process do not mix: functions and a tree with
# compact records at once; two such trees of the same functions; plain and compact trees of the same
# functions, at once and one after the other. The program says what it called.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
spi_daemon
cat >phases.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile long sink;
static volatile sig_atomic_t over;
__attribute__((noipa)) long t_leaf(long x) { return x + 1; }
__attribute__((noipa)) long t_other(long x) { return t_leaf(x) + 1; }
__attribute__((noipa)) long t_root(long x) { return t_leaf(x) + t_other(x + 1); }
static void end(int number) { over = number; }
int main(int argc, char **argv)
{
	FILE *in = fopen(argv[1], "r");
	long n, done = 0;
	signal(SIGTERM, end);
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (in && fscanf(in, "%ld", &n) == 1) {
		for (long i = 0; i < n; i++)
			sink += t_root(i) + t_other(i);
		printf("done %ld\n", done += n);
	}
	while (!over)
		pause();
	return 0;
}
C
spi_cc phases ./phases.c -fno-optimize-sibling-calls
mkfifo fifo

# session TAG EVENTS - what has this tag
session() {
	lttng -q create "$1" --output="$SPI_TMP/$1" &&
		lttng -q enable-event -u -s "$1" "$2" --filter "\$app.spi:rules == \"*|$1|*\"" &&
		lttng -q add-context -u -s "$1" -t vpid -t vtid && lttng -q start "$1"
}
# counts TAG - t_root, t_other and t_leaf: ENTRIES/EXITS
counts() {
	local name at out=
	for name in t_root t_other t_leaf; do
		at=$(nm phases | awk -v n=$name '$3 == n { print toupper(substr($1, 14)) }')
		out+="$(grep -c "func_entry.*addr = 0x[0-9A-F]*$at," "$1.expanded")/$(grep -c "func_exit.*addr = 0x[0-9A-F]*$at," "$1.expanded") "
	done
	echo "$out"
}
ask() { echo "$*" >&"$to"; read -r -t 60 -u "$from" answer; }
begin() {
	rm -f target.out
	coproc CONTROL { python3 "$SPI_TOP_SRCDIR/tests/lib/controller.py" ./phases fifo 2>control.err; }
	exec {to}>&"${CONTROL[1]}" {from}<&"${CONTROL[0]}"
	total=0
	ask go
	exec {calls}>fifo
	spi_wait 10 file_has target.out ready
}
rule() { ask "$@"; [[ $answer == "rule $2 0"* ]] || { fail "$*"; diag "$answer $(tail -n 3 control.err)"; }; }
rounds() {
	total=$((total + $1))
	echo "$1" >&"$calls"
	spi_wait 10 file_has target.out "done $total\$"
}
end() {
	local tag
	exec {calls}>&-
	ask end
	is "$answer" "ended 0" "the program ends as ever"
	for tag; do
		lttng -q destroy "$tag"
		expand "$tag"
		check "$tag: balanced" python3 "$compare" balance "$tag.expanded"
	done
}

# t_leaf by name, in one session; the tree of t_root in another
session aaaa 'spi_tree:*'
session bbbb 'spi_tree:*'
begin
rounds 3
rule add 1 'call(phases:t_leaf;compact;tag=aaaa)'
rounds 5
rule add 2 'tree(t_root;lib=phases;compact;tag=bbbb)'
rounds 7
rule remove 1
rounds 2
rule add 3 'call(phases:t_leaf;compact;tag=aaaa)'
rounds 1
rule remove 2
rounds 4
end aaaa bbbb
is "$(counts aaaa)" "0/0 0/0 51/51 " "functions: those of their rules, in its session"
is "$(counts bbbb)" "10/10 10/10 20/20 " "a tree at the same time: what is below its root, in its session"

# two compact trees of the same functions
session cccc 'spi_tree:*'
session dddd 'spi_tree:*'
begin
rule add 1 'tree(t_root;lib=phases;compact;tag=cccc)'
rounds 2
rule add 2 'tree(t_other;lib=phases;compact;tag=dddd)'
rounds 3
rule remove 1
rounds 5
rule remove 2
rounds 1
rule add 3 'tree(t_root;lib=phases;compact;tag=dddd)'
rounds 4
end cccc dddd
is "$(counts cccc)" "5/5 5/5 10/10 " "two compact trees: the first"
is "$(counts dddd)" "4/4 20/20 24/24 " "two compact trees: the second"

# a plain and a compact tree at the same time, and one after the other: each has what is below its root while it is there
session eeee 'lttng_ust_cyg_profile:*'
session ffff 'spi_tree:*'
begin
rule add 1 'tree(t_root;lib=phases;tag=eeee)'
rounds 5
rule add 2 'tree(t_root;lib=phases;compact;tag=ffff)'
rounds 4
rule disable 1
rounds 2
rule add 3 'tree(t_other;lib=phases;tag=eeee)'
rounds 7
rule remove 2
rounds 3
rule enable 1
rounds 6
rule remove 1
rule add 4 'tree(t_other;lib=phases;compact;tag=ffff)'
rounds 8
rule disable 4
rounds 1
rule remove 3
rule enable 4
rounds 9
rule add 5 'tree(t_leaf;lib=phases;tag=eeee;depth=1)'
rounds 10
end eeee ffff
# A round is one call of t_root, which calls t_leaf and t_other, and one of t_other, which calls t_leaf.
# Plain: t_root 5 + 4; t_other 7 + 3; both 6, in which a t_other below t_root is in each of the two; t_other 8 + 1; t_leaf 10
is "$(counts eeee)" "15/15 65/65 104/104 " "a plain tree beside compact ones, before and after them"
# Compact: t_root 4 + 2 + 7; t_other 8; 9 + 10
is "$(counts ffff)" "13/13 67/67 80/80 " "compact trees beside plain ones, before and after them"
tap_done
