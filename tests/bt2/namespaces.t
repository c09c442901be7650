#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# timeout: 60
#
# Compact records of programs that run at the same time in pid namespaces of their own, and so have the same
# vpids and vtids in one trace: each one's calls are those of its own functions.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
spi_daemon
cat >twin.c <<'C'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long sink;
__attribute__((noipa)) long LEAF(long x) { return x + 1; }
__attribute__((noipa)) long MIDDLE(long x) { return LEAF(x) + LEAF(x + 1); }
int main(void)
{
	int n, status = 0;
	while (scanf("%d", &n) == 1) {
		for (int i = 0; i < n; i++)
			sink += MIDDLE(i);
		printf("pid %d\n", getpid());
		fflush(stdout);
	}
	if (!fork()) {
		for (int i = 0; i < 100; i++)
			sink += MIDDLE(i);
		_exit(7);
	}
	wait(&status);
	return WEXITSTATUS(status);
}
C
# other addresses, too: the functions of the one mean nothing in the other
spi_cc one ./twin.c -fno-optimize-sibling-calls -no-pie -DLEAF=o_leaf -DMIDDLE=o_middle
spi_cc two ./twin.c -fno-optimize-sibling-calls -no-pie -DLEAF=t_leaf -DMIDDLE=t_middle -Wl,-Ttext-segment=0x800000

# count PROGRAM FUNCTION - ENTRIES/EXITS
count() {
	local at
	at=$(nm "$1" | awk -v n="$2" '$3 == n { sub(/^0+/, "", $1); print toupper($1) }')
	echo "$(grep -c "func_entry.*addr = 0x$at," both.expanded)/$(grep -c "func_exit.*addr = 0x$at," both.expanded)"
}
# ask N TO FROM - rounds of the program behind these
ask() {
	local answer
	echo "$1" >&"$2"
	read -r -t 20 -u "$3" answer
	is "$answer" "pid 1" "a program that takes itself for process 1"
}

lttng -q create both --output="$SPI_TMP/both"
lttng -q enable-channel -u -s both ch --subbuf-size=1M --num-subbuf=8
lttng -q enable-event -u -s both -c ch 'spi_tree:*'
lttng -q add-context -u -s both -c ch -t vpid -t vtid
lttng -q start both
for name in one two; do
	mkfifo "$name.in" "$name.out"
	unshare --fork --pid "${SPI_ALONE[@]}" LTTNG_SPI_RULES="tree(main;lib=$name;compact)" "./$name" <"$name.in" >"$name.out" &
	pids+=("$!")
	exec {to}>"$name.in" {from}<"$name.out"
	tos+=("$to")
	froms+=("$from")
done
# more than a buffer holds: its batches come before the other's, and after them
for i in 0 1 0 1 0; do
	ask 2000 "${tos[i]}" "${froms[i]}"
done
for to in "${tos[@]}"; do
	exec {to}>&-
done
for i in 0 1; do
	wait "${pids[i]}"
	is "$?" 7 "program $i ends as ever"
done
lttng -q destroy both
expand both
is "$(cat both.warn)" "" "nothing is missing"
is "$(count one main) $(count one o_middle) $(count one o_leaf)" "1/1 6100/6100 12200/12200" "the first program's functions"
is "$(count two main) $(count two t_middle) $(count two t_leaf)" "1/1 4100/4100 8200/8200" "the second one's"
is "$(grep -c 'func_e' both.expanded)" $((2 * (1 + 6100 + 12200 + 1 + 4100 + 8200))) "and no others"
tap_done
