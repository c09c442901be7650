#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What comes last is in the trace: before exec, with threads that go on while the
# process ends, in children, and when a rule is taken out. Two trees of two
# sessions in one process keep apart.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
spi_daemon
spi_cc ways "$SPI_TOP_SRCDIR/tests/programs/ways.cc" -fno-optimize-sibling-calls
cat >last.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile long sink;
__attribute__((noipa)) long t_leaf(long x) { return x + 1; }
__attribute__((noipa)) long t_other(long x) { return t_leaf(x) + 1; }
__attribute__((noipa)) long t_root(long x) { return t_leaf(x) + t_leaf(x + 1); }
__attribute__((noipa)) void *t_thread(void *arg)
{
	sink += t_leaf(1);
	*(volatile int *) arg = 1;
	for (;;)
		pause();
}
int main(int argc, char **argv)
{
	volatile int ready = 0;
	pthread_t id;
	for (int i = 0; i < 100; i++)
		sink += t_leaf(i);
	for (int i = 0; i < 10; i++)
		sink += t_root(i) + t_other(i);
	if (!strcmp(argv[1], "exec"))
		execl("/bin/true", "true", (char *) NULL);
	pthread_create(&id, NULL, t_thread, (void *) &ready);
	while (!ready)
		;
	return 0;
}
C
spi_cc last ./last.c -fno-optimize-sibling-calls

# leaves NAME - entries of t_leaf
leaves() {
	local at
	at=$(nm last | awk '$3 == "t_leaf" { print toupper(substr($1, 14)) }')
	grep -c "func_entry.*addr = 0x[0-9A-F]*$at," "$1.expanded"
}

record exec 'tree(main;lib=last;compact)' ./last exec
expand exec
is "$(leaves exec)" 130 "before exec"
record thread 'tree(main;lib=last;compact)' ./last thread
expand thread
is "$(leaves thread)" 131 "a thread that waits when the process ends"
check "the calls that it waits in have their exits" python3 "$compare" balance thread.expanded

for tag in aaaa bbbb; do
	lttng -q create "$tag" --output="$SPI_TMP/$tag" &&
		lttng -q enable-event -u -s "$tag" 'spi_tree:*' --filter "\$app.spi:rules == \"*|$tag|*\"" &&
		lttng -q add-context -u -s "$tag" -t vpid -t vtid && lttng -q start "$tag"
done
"${SPI_ALONE[@]}" LTTNG_SPI_RULES='tree(t_root;lib=last;compact;tag=aaaa)
tree(t_other;lib=last;compact;tag=bbbb)' ./last two
lttng -q destroy aaaa
lttng -q destroy bbbb
for tag in aaaa bbbb; do
	expand "$tag"
	check "$tag: balanced" python3 "$compare" balance "$tag.expanded"
done
is "$(leaves aaaa), $(leaves bbbb)" "20, 10" "each session has its own tree's calls"

# A child that executes another program, whose numbers come to mean something else only after its first batches.
cat >next.c <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long sink;
#define EACH(x) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9)
#define DEFINE(i) __attribute__((noipa)) void t_##i(void) { sink += i; }
#define CALL(i) t_##i();
EACH(DEFINE)
int main(int argc, char **argv)
{
	if (argc > 1) {
		for (int i = 0; i < 100000; i++)	/* several batches */
			t_1();
		EACH(CALL)
		return 0;
	}
	EACH(CALL)
	if (!fork()) {
		t_9();
		execl("/proc/self/exe", "next", "again", (char *) NULL);
	}
	wait(NULL);
	return 0;
}
C
spi_cc next ./next.c -fno-optimize-sibling-calls
"$SPI_LTTNG" trace --tree --compact --lib next -o next.trace ./next >next.out 2>next.err
is $? 0 "a child that executes another program" || diag "$(cat next.err)"
expand next.trace
at() { nm next | awk -v name="t_$1" '$3 == name { print toupper(substr($1, 14)) }'; }
is "$(grep -c "func_entry.*addr = 0x[0-9A-F]*$(at 1)," next.trace.expanded), $(grep -c "func_entry.*addr = 0x[0-9A-F]*$(at 9)," next.trace.expanded)" \
	"100002, 3" "numbers mean what they do in the program that uses them"
is "$(cat next.trace.warn)" "" "nothing missing of either"

# the child goes on in calls that its parent made
record fork 'tree(main;lib=ways;compact)' ./ways fork
expand fork
out=$(python3 "$compare" balance fork.expanded)
ok $? "parent and children: balanced" || diag "$out"
is "$(cat fork.warn)" "" "nothing missing"
tap_done
