#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# --libcalls: calls from one object into another, and no others, as the program's source has them and as ltrace counts them.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"

gcc -shared -fPIC -O1 -o libb.so -x c - <<'C'
int b_leaf(int n) { return n + 1; }
int b_rare(int n) { return n + 2; }
int b_unused(int n) { return n + 3; }
C
gcc -shared -fPIC -O1 -fno-optimize-sibling-calls -o liba.so -x c - -L. -lb -Wl,-rpath,"$PWD" <<'C'
int b_leaf(int n);
int service(int n);
int a_helper(int n) { return n * 2; }
int a_work(int n) { return a_helper(n) + b_leaf(n) + service(n); }
int a_asks(int (*f)(int), int n) { return f(n) + 1; }
C
gcc -shared -fPIC -O1 -fno-optimize-sibling-calls -o libplug.so -x c - -L. -lb -Wl,-rpath,"$PWD" <<'C'
int b_rare(int n);
int plug_inner(int n) { return b_rare(n); }
int plug_run(int n) { return plug_inner(n) + 1; }
C
gcc -O1 -fno-optimize-sibling-calls -rdynamic -o prog -x c - -L. -la -lb -ldl -Wl,-rpath,"$PWD" <<'C'
#include <dlfcn.h>
int a_work(int), a_helper(int), a_asks(int (*)(int), int);
int service(int n) { return n - 1; }
static int own(int n) { return a_helper(n); }
int main(void)
{
	int sum = 0, (*run)(int);

	for (int i = 0; i < 5; i++)
		sum += a_work(i);
	sum += a_helper(1) + a_asks(own, 2) + service(3);
	run = (int (*)(int)) dlsym(dlopen("libplug.so", RTLD_NOW), "plug_run");
	for (int i = 0; i < 3; i++)
		sum += run(i);
	return sum & 63;
}
C
./prog
plain=$?
# calls DIR - "NAME COUNT" of the functions that are ours
calls() {
	"$SPI_TOP_BUILDDIR/reader/lttng-spi" report "$1" --format json |
		python3 -c 'import json, sys
for row in sorted(json.load(sys.stdin)["rows"], key=lambda r: r["name"]):
    if row["name"].startswith(("a_", "b_", "plug_", "service")):
        print(row["name"], row["calls"])' | tr '\n' ' '
}
spi_trace -o all --libcalls ./prog
is $? "$plain" "the program's status"
is "$(calls all)" "a_asks 1 a_helper 2 a_work 5 b_leaf 5 b_rare 3 plug_run 3 service 5 " \
	"calls from other objects alone: of a library that is loaded later, too, and of the program by its libraries"
like "$(cat trace.err)" "Functions instrumented: [0-9]*; not instrumented: " "what is instrumented is counted"
spi_trace -o some --libcalls='liba.so:a_*,b_rare' ./prog
is "$(calls some)" "a_asks 1 a_helper 2 a_work 5 b_rare 3 " "functions of a list"
spi_trace -o rare --libcalls='libb.so:*' --one-event ./prog
is "$(calls rare)" "b_leaf 5 b_rare 3 " "all of one library, one event a call"
spi_trace -o stack --libcalls=a_helper --backtrace ./prog
is "$(calls stack)" "a_helper 2 " "with backtraces"
spi_trace --libcalls='liba.so:*' --report ./prog >report
is "$(sed -n 's/^ *\([0-9]*\) .* \(a_[a-z]*\)$/\2 \1/p' report | sort | tr '\n' ' ')" "a_asks 1 a_helper 2 a_work 5 " "a table of counts and times"

# ltrace, by which the same functions are called as often.
seq 1 50 >numbers
beside_ltrace() {
	local name=$1 path
	path=$(readlink -f "$(command -v "$1")")
	"$SPI_LTTNG" trace -v --libcalls -o traced "$@" >out.traced 2>said ||
		diag "$(cat said)"
	timeout $((60 * SPI_PATIENCE)) ltrace -f -e '*' -o ltraced "$@" >out.ltraced 2>/dev/null
	"$SPI_TOP_BUILDDIR/reader/lttng-spi" report traced --format json >table 2>/dev/null
	# shellcheck disable=SC2046
	python3 "$SPI_TOP_SRCDIR/tests/lib/libcalls.py" ltraced table said "$path" $(ldd "$path" | grep -o '/[^ ]*') >differ 2>sums
	is "$(cat differ)" "" "$name: each function as often as by ltrace: $(cat sums)"
	rm -rf traced
}
beside_ltrace sqlite3 :memory: 'create table a(b); insert into a values(1),(2); select sum(b) from a;'
beside_ltrace od -c numbers
beside_ltrace nl numbers
beside_ltrace wc numbers
beside_ltrace join numbers numbers

# What cannot be meant.
refused() {
	local name=$1 wanted=$2
	shift 2
	"$SPI_LTTNG" trace "$@" ./prog >out 2>err
	is $? 2 "$name: status"
	like "$(cat err)" "$wanted" "$name: the reason"
}
refused 'with -f' 'either --libcalls or -f' --libcalls -f main
refused 'an empty list' 'is not a list of' --libcalls=,
refused 'with a payload' 'library calls are recorded: leave out the payload' --libcalls --payload count
refused 'compact' 'library calls have events of their own' --libcalls --compact --tree
spi_trace -o none --libcalls=liba.so:no_such ./prog
like "$(cat trace.err)" 'liba.so:no_such: no function no_such in liba.so' "a function that is not there is named"
tap_done
