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
is "$(sed -n 's/^ *\([0-9]*\) .* \(a_[a-z]*\)\( \[.*\]\)*$/\2 \1/p' report | sort | tr '\n' ' ')" "a_asks 1 a_helper 2 a_work 5 " "a table of counts and times"

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

# gdb, which has the same values.
# beside_gdb NAME 'FUNCTION...' PROGRAM... - as tests/lib/libcalls-gdb.py takes them; the calls that both have, in all.values
beside_gdb() {
	local name=$1 functions=$2 list
	shift 2
	# shellcheck disable=SC2086
	list=$(printf '%s\n' $functions | sed 's/:.*//')
	VALUES_OF=$functions VALUES_OUT=gdb.values timeout $((60 * SPI_PATIENCE)) gdb -nx -batch \
		-x "$SPI_TOP_SRCDIR/tests/lib/libcalls-gdb.py" --args "$@" >gdb.out 2>gdb.err </dev/null || diag "$(tail -5 gdb.err)"
	"$SPI_LTTNG" trace --libcalls -o values "$@" >out.traced 2>said </dev/null || diag "$(cat said)"
	# shellcheck disable=SC2086
	"$SPI_TOP_BUILDDIR/reader/lttng-spi" calls --format json values |
		python3 "$SPI_TOP_SRCDIR/tests/lib/libcalls-gdb.py" $list >our.values
	same_file our.values gdb.values "$name: arguments and results are those that gdb has" || diag "$(tail -5 gdb.err)"
	cat our.values >>all.values
	rm -rf values
}
cat >values.h <<'C'
#include <stdbool.h>
enum color { RED, GREEN = 5, BLUE = -3 };
struct pair { int first; long second; };
long v_small(char c, signed char sc, short s, unsigned short us, int i, unsigned int u);
double v_real(float f, double d, long l, unsigned long ul);
float v_float(float a, int b);
const char *v_text(const char *t, bool b, enum color e, void *p);
enum color v_color(int n);
unsigned char v_stack(int a, int b, int c, int d, int e, int f, int g, long h);
int v_pair(struct pair p, int n);
bool v_bool(unsigned long long x);
void v_none(void);
C
gcc -shared -fPIC -O0 -g -I. -o libvalues.so -x c - <<'C'
#include "values.h"
long v_small(char c, signed char sc, short s, unsigned short us, int i, unsigned int u) { return c + sc + s + us + i + (long) u; }
double v_real(float f, double d, long l, unsigned long ul) { return f * d + (double) l + (double) ul; }
float v_float(float a, int b) { return a * (float) b; }
const char *v_text(const char *t, bool b, enum color e, void *p) { return b && e ? t + 1 : p; }
enum color v_color(int n) { return n ? GREEN : BLUE; }
unsigned char v_stack(int a, int b, int c, int d, int e, int f, int g, long h) { return (unsigned char) (a + b + c + d + e + f + g + h); }
int v_pair(struct pair p, int n) { return (int) (p.first + p.second + n); }
bool v_bool(unsigned long long x) { return x > 5; }
void v_none(void) { __asm__(""); }
C
gcc -O1 -g -I. -o valued -x c - -L. -lvalues -Wl,-rpath,"$PWD" <<'C'
#include "values.h"
#include <stddef.h>
int main(void)
{
	const struct pair pair = { -7, 70000000000 };

	v_small('x', -5, -32768, 65535, -2147483647, 4294967295u);
	v_real(1.5f, -2.25e10, -9000000000, 18000000000000000000ul);
	v_float(-0.5f, 7);
	v_text("some text", 1, GREEN, NULL);
	v_text(NULL, 0, BLUE, NULL);
	v_color(0);
	v_color(1);
	v_stack(-1, 2, -3, 4, -5, 6, -7, 300000000000);
	v_pair(pair, 3);
	v_bool(6);
	v_bool(1);
	v_none();
	return 0;
}
C
beside_gdb "types of debug info" "v_small v_real v_float v_text v_color v_stack v_pair v_bool v_none" ./valued
beside_gdb sqlite3 "getenv:s(s) fopen:p(ss) isatty:i(i) access:i(si) getuid:u() realloc:p(pz) read:l(ipz) close:i(i) open:i(si)
	fputs:i(sp) setvbuf:i(psiz)" sqlite3 :memory: 'create table a(b); insert into a values(1),(2); select sum(b) from a;'
beside_gdb gzip "getenv:s(s) read:l(ipz) write:l(ipz) close:i(i) open:i(si) openat:i(isi)" gzip -c numbers
check "at least 30 calls: $(grep -c . all.values)" test "$(grep -c . all.values)" -ge 30

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
