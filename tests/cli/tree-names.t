#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The calls of a tree have the functions' whole names, where a reader of the files finds less: C++ functions at -O2 with cold
# parts, which debug info gives without their scope or not at all, and those of a stripped library. For plain and compact
# records, of a directory and as they come; in a forked child as in its parent; for a session that begins later.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree-names.sh"
spi_private "$@"
spi_daemon

cat >store.cc <<'EOF_CC'
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
extern "C" int plain_part(int);
namespace part { template <typename T> struct Box { __attribute__((noinline)) T get(T v); }; extern template struct Box<long>; }
namespace app {
static volatile int limit = 1000;
__attribute__((noipa, cold)) void fail(int key) { throw std::out_of_range("no " + std::to_string(key)); }
struct Store {
	int base = 3;
	__attribute__((noipa)) int find(int key);
	__attribute__((noipa)) int find(const char *key);
};
__attribute__((noipa)) int Store::find(int key)
{
	if (__builtin_expect(key > limit, 0))
		fail(key);
	return key + base;
}
__attribute__((noipa)) int Store::find(const char *key) { return find(atoi(key)); }
namespace { __attribute__((noipa)) int hidden(int v) { volatile int w = v; return w; } }
}
int main(int argc, char **argv)
{
	app::Store store;
	int sum = 0;

	for (int i = 0; i < atoi(argv[1]); i++)
		sum += store.find("4") + app::hidden(i);
	try {
		store.find(5000);
	} catch (const std::out_of_range &e) {
		sum++;
	}
	sum += plain_part(2) + part::Box<long>().get(4);
	if (argc > 2 && !fork()) {
		store.find(7);
		_exit(0);
	}
	while (argc > 2 && wait(nullptr) < 0)
		;
	for (int c; argc > 3 && (c = getchar()) != EOF;) {
		sum += store.find("5");
		printf("called\n");
		fflush(stdout);
	}
	printf("%d\n", sum);
	return 0;
}
EOF_CC
cat >part.cc <<'EOF_CC'
static volatile int sink;
__attribute__((noipa)) static int inner_part(int v) { sink = v; return v; }
extern "C" int plain_part(int v) { return inner_part(v) + 1; }
namespace part { template <typename T> struct Box { __attribute__((noinline)) T get(T v); }; template <typename T> T Box<T>::get(T v) { sink = v; return v; } template struct Box<long>; }
EOF_CC
spi_cc libpart.so "$PWD/part.cc" -shared -fPIC
strip libpart.so
spi_cc store "$PWD/store.cc" ./libpart.so

# named FILE - NAME=ENTRIES of the calls, in one line
named() {
	grep -aoE 'lttng_ust_cyg_profile:func_entry: .*name = "[^"]*" \}$' "$1" | sed -E 's/.* name = "([^"]*)" \}$/\1/' |
		LC_ALL=C sort | uniq -c | awk '{ n = $1; sub(/^ *[0-9]+ /, ""); printf("%s=%s; ", $0, n) }'
}
expected="app::(anonymous namespace)::hidden=3; app::Store::find=7; app::fail=1; main=1; part::Box<long>::get=1; plain_part=1; "
for how in plain compact; do
	option=
	[ "$how" = plain ] || option=--compact
	spi_trace --tree $option --lib store --lib 'libpart*' -o "$how" ./store 3 >out
	is $? 0 "$how: the program ends as it should" || diag "$(tail -n 5 trace.err)"
	tree_read "$how" expand
	is "$(named "$how.names" | sed -E 's/sub_[0-9a-f]+=1; //')" "$expected" "$how: the calls have whole names"
	is "$(grep -a 'func_entry' "$how.names" | grep -avc ' name = "')" 0 "$how: each has one"
	is "$(grep -v 'later than hold-ms' "$how.warn")" "" "$how: nothing is missing"
	spi_trace --tree $option --lib store --lib 'libpart*' ./store 3 >"$how.live"
	is "$(named "$how.live" | sed -E 's/sub_[0-9a-f]+=1; //')" "$expected" "$how, printed as it comes: the same" ||
		diag "$(cat trace.err) $(grep -a -m 3 func_entry "$how.live")"
	is "$(grep -c 'spi_tree:' "$how.live")" 0 "$how, printed as it comes: the calls only"
done
address=$(grep -a 'name = "app::Store::find"' plain.names | grep -ao 'addr = 0x[0-9A-F]*' | sort | uniq -c | sort -n | tail -n 1)
check "the function's own event has its object and its size" grep -qaE \
	"spi_tree:function: .*addr = 0x[0-9A-F]+, size = [1-9][0-9]*, baddr = 0x[0-9A-F]+, build_id = 0x[0-9A-F]+, object = \"$PWD/store\", name = \"app::Store::find\"" \
	plain.names || diag "$address"

spi_trace --tree --lib store -o busy ./store 2000 >out
like "$(cat trace.err)" '% +4001  store:app::Store::find' "the summary: the busiest function as it is called in the source"
like "$(cat trace.err)" "--exclude app::Store::find" "the summary: and what leaves it out"
spi_trace --tree --lib store --exclude app::Store::find -o without ./store 20 >out
tree_read without expand
unlike "$(named without.names)" 'find' "--exclude: that is left out by this name"

# What a child calls that its parent has called before.
for how in plain compact; do
	option=
	[ "$how" = plain ] || option=--compact
	spi_trace --tree $option --lib store -o "forks-$how" ./store 3 fork >out
	tree_read "forks-$how" expand
	is "$(grep -a 'func_entry.*name = "app::Store::find"' "forks-$how.names" | grep -ao 'vpid = [0-9]*' | sort | uniq -c | awk '{ print $1 }' | sort -n | tr '\n' ' ')" \
		"1 7 " "a forked child's calls have names, $how"
done

# Another run of a process that was traced before, whose functions were met then.
mkfifo in
./store 1 fork wait <in >target.out &
target=$!
exec {input}>in
spi_wait 10 eval "grep -q ^State:.S /proc/$target/status"
for run in 1 2; do
	for how in plain compact; do
		option=
		[ "$how" = plain ] || option=--compact
		rm -f later.err
		lines=$(wc -l <target.out)
		"$SPI_LTTNG" trace --tree=app::Store::find --lib store $option -p "$target" -o "later-$how-$run" 2>later.err &
		tracer=$!
		spi_wait 20 file_has later.err 'Trace directory' || diag "$(cat later.err)"
		printf '\n\n' >&"$input"
		spi_wait 10 eval "[ \$(wc -l <target.out) -gt $((lines + 1)) ]" || diag "$(cat later.err)"
		kill -INT "$tracer"
		wait "$tracer"
		tree_read "later-$how-$run" expand
		is "$(named "later-$how-$run.names")" "app::Store::find=4; " "-p, $how, run $run of the process: names"
	done
done
exec {input}>&-
wait "$target"
tap_done
