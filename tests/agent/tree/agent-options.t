#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What the options of a tree rule leave out and take in, counted function by
# function: depth, exclude, lib, exclude-lib, calls-of, other roots than main(),
# two trees at once; and rules that say nothing sensible.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
cat >p.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define FN __attribute__((noipa))
static int sum;
FN void leaf(int a) { sum += a; }
FN void branch(int a) { leaf(a); leaf(a + 1); }
FN void middle(int a) { for (int i = 0; i < 3; i++) branch(i + a); leaf(a); }
FN void top(int a) { middle(a); middle(a + 1); }
FN void other(int a) { leaf(a); }
FN int by_value(const void *a, const void *b) { leaf(1); return *(const int *) a - *(const int *) b; }
FN void *thread(void *arg) { branch((int) (long) arg); return NULL; }
int main(void)
{
	int v[4] = { 3, 1, 2, 0 };
	pthread_t t;

	top(1);
	other(2);
	qsort(v, 4, sizeof(v[0]), by_value);
	pthread_create(&t, NULL, thread, (void *) 5L);
	pthread_join(t, NULL);
	printf("%d\n", sum);
	return 0;
}
C
gcc -O1 -g -pthread -o p p.c || { echo "Bail out! p.c does not compile"; exit 1; }
plain=$(./p)
# counted RULE - FUNCTION=CALLS of the program's own functions, below that rule
counted() {
	tree_record "$PWD/t" "$1" ./p >out 2>&1 </dev/null
	echo "$?/$(cat out)" >status
	"$SPI_TMP/calls" --counts counts t >sum 2>problems || echo unbalanced
	sed -n 's/^\([0-9]*\)[[:space:]].*\/p+\(0x[0-9a-f]*\)$/\1 \2/p' counts | while read -r n at; do
		echo "$(addr2line -f -e p "$at" | head -n 1)=$n"
	done | sort | tr '\n' ' '
}
rule_is() {
	is "$(counted "$1")" "$2" "$3" || diag "$(cat sum problems tree.debug | head -n 5)"
	is "$(cat status)" "0/$plain" "$3: output and status"
}
others() { tr ' ' '\n' <<<"$1" | grep -v "^$2" | tr '\n' ' '; }

all="branch=7 by_value=5 leaf=22 main=1 middle=2 other=1 thread=1 top=1 "
comparisons=$(counted 'tree(main)' | tr ' ' '\n' | sed -n 's/^by_value=//p')
all="branch=7 by_value=$comparisons leaf=$((17 + comparisons)) main=1 middle=2 other=1 thread=1 top=1 "
rule_is 'tree(main)' "$all" "the whole program, libc and back"
rule_is 'tree()' "$all" "main is the root where none is named"
c=$comparisons
rule_is 'tree(main;lib=p)' "$all" "lib: the program alone, its threads, and what is called from outside"
rule_is 'tree(main;exclude-lib=libc.so.6)' "$all" "exclude-lib, which calls back"
rule_is 'tree(main;lib=p;follow=none)' "branch=6 by_value=$c leaf=$((15 + c)) main=1 middle=2 other=1 top=1 " "follow=none: no other threads"
rule_is 'tree(main;lib=p;exclude=middle)' "branch=1 by_value=$c leaf=$((3 + c)) main=1 other=1 thread=1 top=1 " "exclude: a function and what only it calls"
rule_is 'tree(main;lib=p;exclude=mid*;exclude=oth?r)' "branch=1 by_value=$c leaf=$((2 + c)) main=1 thread=1 top=1 " "exclude twice, by globs"
rule_is 'tree(main;lib=p;depth=1;follow=none)' "by_value=$c main=1 other=1 top=1 " "depth=1"
rule_is 'tree(main;lib=p;depth=2;follow=none)' "by_value=$c leaf=$((1 + c)) main=1 middle=2 other=1 top=1 " "depth=2"
rule_is 'tree(top;lib=p)' "branch=6 leaf=14 middle=2 top=1 " "another root"
rule_is 'tree(p:mid*;lib=p)' "branch=6 leaf=14 middle=2 " "a root by object and glob"
rule_is 'tree(;calls-of=middle;lib=p)' "branch=6 leaf=2 " "calls-of: the calls in one function"
rule_is 'tree(top;lib=p);tree(other;lib=p)' "branch=6 leaf=15 middle=2 other=1 top=1 " "two trees"
rule_is 'tree(top;lib=p);tree(middle;lib=p)' "branch=6 leaf=14 middle=2 top=1 " "one tree below another: each call once"
compact='tree(main;compact)'
rule_is "tree(main;lib=p;depth=2;follow=none);$compact" "by_value=$c leaf=$((1 + c)) main=1 middle=2 other=1 top=1 " "depth=2 beside a compact tree"
rule_is "$compact;tree(top;lib=p;exclude=branch)" "leaf=2 middle=2 top=1 " "another root and an exclusion, behind a compact tree"
for bad in 'tree(main' 'tree(main;depht=3)' 'tree(main;depth=0)' 'tree(main;follow=wires)' 'tree(main;exclude=)' 'tree(nosuch)'; do
	counted "$bad" >/dev/null
	is "$(cat status)" "0/$plain" "$bad: the program runs"
	check "$bad: said" file_has tree.debug .
done
tap_done
