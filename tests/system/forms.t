#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 170
#
# A process is traced again and again, each time otherwise: entry and exit, one event a call, compact, a call tree, with
# strings of another length, by another of a function's names. Each trace has what it asks for, as if it were the first,
# in a function that begins with a call site, too, in one whose calls are under way in between, and in a library that was
# unloaded meanwhile. Of two rules in force at once that ask for contradicting forms the first one counts.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >plug.c <<'C'
__attribute__((noipa)) int plugged(int a) { return a + 5; }
C
gcc -O2 -g -shared -fPIC -o plug.so plug.c
cat >shifts.c <<'C'
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile sig_atomic_t ended;
static void end(int s) { ended = 1; }
__attribute__((noipa)) int leaf(int a) { return a * 3; }
__attribute__((noipa)) long text(const char *t, int n) { return (long) strlen(t) + n; }
__attribute__((noipa)) int outer(int a) { return leaf(a) + 1; }		/* a site among its first instructions */
__attribute__((noipa)) int slow(int a) { usleep(30000); return leaf(a); }
extern long other(const char *, int) __attribute__((alias("text")));
int main(void)
{
	static char line[1200];
	long sum = 0, check = 0;
	int n = 0;

	memset(line, 'x', sizeof(line) - 1);
	signal(SIGTERM, end);
	puts("begun");
	fflush(stdout);
	for (; !ended; n++) {
		sum += outer(n) + text(line, n) + (n % 20 ? 0 : slow(n));
		check += n * 3 + 1 + 1199 + n + (n % 20 ? 0 : n * 3);
		if (n % 20 == 0) {
			void *plug = dlopen("./plug.so", RTLD_NOW);
			int (*plugged)(int) = (int (*)(int)) dlsym(plug, "plugged");

			sum += plugged(n);
			check += n + 5;
			dlclose(plug);
		}
		usleep(1000);
	}
	printf("wrong %ld\n", sum - check);
	return 0;
}
C
spi_cc shifts "$PWD/shifts.c" -ldl
text_equal() { python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target"; }
number=0

# traced NAME ARGS... - one more trace of the process, in t$number
traced() {
	local name=$1
	shift
	number=$((number + 1))
	rm -rf t
	spi_trace_ok "$number. $name" "$@" -p "$target" --duration 0.4 -o "t$number" || diag "$(tail -n 3 trace.err)"
	unlike "$(cat trace.err)" 'not instrumented: [1-9]' "$number. $name: of everything"
}
some() { [ "$(spi_count "t$number" "$1")" -gt "${2:-20}" ]; }
none() { [ "$(spi_count "t$number" "$1")" = 0 ]; }
text_bytes() { spi_read "t$number"; grep -am1 " spi:$1: " "t$number.txt" | grep -o 't = "x*' | tr -dc x | wc -c; }
pair() {
	traced "entry and exit" -f outer -f leaf -f slow -f text "$@"
	check "$number. entries" some outer_entry
	check "$number. exits" some outer_exit
	check "$number. no others" none outer
	check "$number. of what takes long, too" some slow_exit 0
	balanced "t$number" "$number. nested"
}
one() {
	traced "one event" --one-event -f outer -f leaf -f slow -f text "$@"
	check "$number. events" some outer
	check "$number. no others" none outer_entry
	check "$number. of what takes long, too" some slow 0
	spi_read "t$number"
	like "$(grep -am1 ' spi:outer: ' "t$number.txt")" 'a = [0-9]+, ret = [0-9]+, duration = [1-9][0-9]*, left = ' "$number. with their fields"
}
tree() {
	traced "a call tree" --tree=outer "$@"
	spi_read "t$number"
	[ "$(grep -acE 'lttng_ust_cyg_profile:func_entry: |spi_tree:calls: ' "t$number.txt")" -gt 0 ]
	ok $? "$number. is there"
}

background ./shifts
pair
is "$(text_bytes text_entry)" 252 "$number. a string, as long as usual"
one --string-max 500
is "$(text_bytes text)" 496 "$number. longer"
pair --string-max 20
is "$(text_bytes text_entry)" 16 "$number. shorter"
tree
one
is "$(text_bytes text)" 252 "$number. as long as usual again"
pair --string-max 1000
is "$(text_bytes text_entry)" 996 "$number. much longer"
tree --compact
one
check "its code is its file's" text_equal
finish "$target"
is "$?/$(tail -n 1 target.out)" "0/wrong 0" "all its values are right"

# The tree first: its entry point stays where the functions begin.
background ./shifts
tree
one
pair
traced "by one name" -f text
check "$number. its events" some text_entry
traced "by the other" -f other
check "$number. its events" some other_entry
check "$number. no others" none text_entry
traced "a library's" -f plug.so:plugged
check "$number. its events" some plugged_exit 0
traced "the same, one event" --one-event -f plug.so:plugged
check "$number. its events" some plugged 0
traced "the same, entry and exit again" -f plug.so:plugged
check "$number. its events" some plugged_exit 0
finish "$target"
is "$?/$(tail -n 1 target.out)" "0/wrong 0" "all its values are right"

cat >once.c <<'C'
#include <stdio.h>
__attribute__((noipa)) int leaf(int a) { return a * 3; }
int main(void) { return leaf(1) - 3; }
C
spi_cc once "$PWD/once.c"
for rules in 'leaf;call(leaf;one-event)' 'call(leaf;one-event);leaf'; do
	rm -rf at-once at-once.txt once.err
	lttng create at-once --output="$PWD/at-once" >/dev/null && lttng enable-event -u 'spi*:leaf*' -s at-once >/dev/null && lttng start at-once >/dev/null
	"${SPI_ALONE[@]}" LTTNG_SPI_RULES="$rules" LTTNG_SPI_DEBUG="$PWD/once.err" ./once
	is $? 0 "$rules: the program"
	lttng destroy at-once >/dev/null
	first=$([ "$rules" = 'call(leaf;one-event);leaf' ] && echo 0/1 || echo 1/0)
	is "$(spi_count at-once leaf_entry)/$(spi_count at-once leaf)" "$first" "$rules: recorded as the first one asks"
	like "$(cat once.err)" 'another rule in force records it in another form' "$rules: and that is told"
done
tap_done
