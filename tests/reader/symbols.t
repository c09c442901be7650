#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Names and lines come from files of the trace's build-ids, wherever these are: a debug directory, another root, a
# server that is named. A file of another build gives no names. The traces here have no names of their own.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
spi=$SPI_TOP_BUILDDIR/reader/lttng-spi
fib_line=$(grep -n 'int fib(' "$SPI_PROGRAMS/exported.cc" | cut -d: -f1)
calls_fib=$(grep -n 'int sum = fib(' "$SPI_PROGRAMS/exported.cc" | cut -d: -f1)
# names DIR OPTION... - names of the program's functions in one line
names() {
	"$spi" report --object shop --format csv "$@" 2>warnings | tail -n +2 | cut -d, -f1 | tr -d '"' | LC_ALL=C sort |
		tr '\n' ' '
}
expected='main shop::even(int) shop::fib(int) shop::leaf(int) shop::odd(int) '
expected+='shop::pay(char const* shop::round(int) work(void*) '

spi_cc shop exported.cc
tree_record whole 'tree(main)' ./shop 2 >out 2>&1
id=$(readelf -n shop | sed -n 's/.*Build ID: //p')
is "$(names whole)" "$expected" "the program as it was" || diag "$(cat warnings)"
"$spi" calls --lines --function 'shop::fib*' whole >lines 2>&1
check "--lines: a function's line, and the line of the call" \
	grep -qE "shop::fib\(int\)\(\) at exported.cc:$fib_line from exported.cc:$calls_fib( |\$)" lines ||
	diag "$(head -n 3 lines)"
"$spi" calls --lines --function 'shop::fib*' --format json whole >lines.json
check "--lines in JSON" python3 -c "
import json
call = json.loads(open('lines.json').readline())
assert call['file'].endswith('/exported.cc') and call['line'] == $fib_line, call
assert call['call_site']['line'] == $calls_fib and call['call_site']['inlined'] == [], call
"
check "graph --lines" eval "\"$spi\" graph --lines whole | grep -q 'shop::fib(int) at exported.cc:$fib_line '"
"$spi" report --lines --format json whole >report.json
check "report --lines" python3 -c "
import json
lines = {r['name']: r.get('line') for r in json.load(open('report.json'))['rows']}
assert lines['shop::fib(int)'] == $fib_line, lines
"
check "report --lines as text" eval "\"$spi\" report --lines whole | grep -q 'shop::fib(int) at exported.cc:$fib_line '"
"$spi" export --callgrind -o whole.callgrind whole
check "export --callgrind has files and lines" grep -qE '^f[li]=\([0-9]+\) .*/exported.cc' whole.callgrind
"$spi" export --speedscope -o whole.speedscope whole
check "export --speedscope, too" \
	grep -qE '"name":"shop::fib\(int\)","file":".*/exported.cc","line":'"$fib_line" whole.speedscope

mkdir -p "debug/.build-id/${id:0:2}"
objcopy --only-keep-debug shop "debug/.build-id/${id:0:2}/${id:2}.debug"
cp shop whole-shop
strip shop
unlike "$(names whole)" 'shop::fib' "a stripped program has no names"
is "$(names whole --debug-dir debug)" "$expected" "--debug-dir: a debug file by build-id has them"
like "$("$spi" calls --lines --debug-dir debug whole 2>&1)" "shop::fib\(int\)\(\) at exported.cc:$fib_line" "and lines"
spi_trace --tree=main --lib shop -o stripped ./shop 2 >out
is "$(names stripped | grep -oE 'sub_[0-9a-f]+ ' | wc -l)" 8 "a trace of a stripped program calls functions by their place" ||
	diag "$(names stripped)"
is "$(names stripped --debug-dir debug)" "$expected" "--debug-dir: those have names" || diag "$(cat warnings)"
rm shop
is "$(names whole --debug-dir debug)" "$expected" "the debug file alone is enough"
like "$("$spi" info whole)" "$PWD/shop, .*; its file is not here" "info says that the file is gone"

mkdir -p "root$PWD" other
cp whole-shop "root$PWD/shop"
is "$(names whole --root root)" "$expected" "--root: the program at its path below another root"
mv "root$PWD/shop" other/
is "$(names whole --root other)" "$expected" "--root: or right there"
like "$("$spi" report --root nowhere whole 2>&1)" 'nowhere: No such file' "--root: a directory that is there"

# The same place, another program.
sed 's/int fib(/int bad(/; s/fib(n/bad(n/g; s/= fib(/= bad(/' "$SPI_PROGRAMS/exported.cc" >bad.cc
g++ -O2 -g -pthread bad.cc -o shop
unlike "$(names whole)" 'shop::' "a program that was built anew: no names"
like "$(cat warnings)" "build-id is another than the trace's: $PWD/shop" "and a warning"
is "$(grep -c . warnings)" 1 "of one line"
like "$("$spi" info whole)" "$PWD/shop, .*; the file here is of another build" "info says so"
like "$("$spi" calls --lines whole 2>/dev/null)" 'main|0x[0-9a-f]+' "the calls are there"
is "$("$spi" calls --lines whole 2>/dev/null | grep -c 'bad.cc')" 0 "no lines of the other program"
is "$(names whole --debug-dir debug)" "$expected" "--debug-dir: the right ones, beside the wrong program"
rm shop

# What is inlined where a call is made.
cat >within.c <<'EOF_C'
static volatile int sink;
__attribute__((noipa)) int leaf(int n) { sink = n; return n; }
static inline __attribute__((always_inline)) int inner(int n)
{
	return leaf(n) + 1;
}
static inline __attribute__((always_inline)) int outer(int n) { return inner(n) + 1; }
int main(void)
{
	return outer(1) == 3 ? 0 : 1;
}
EOF_C
spi_cc within "$PWD/within.c"
tree_record within.trace 'tree(main)' ./within >out 2>&1
"$spi" calls --lines --function leaf --format json within.trace >within.json
check "the functions that are inlined at a call" python3 -c "
import json
site = json.loads(open('within.json').readline())['call_site']
assert site['inlined'] == ['inner', 'outer'] and site['line'] == 5 and site['file'].endswith('/within.c'), site
" || diag "$(cat within.json)"
like "$("$spi" calls --lines --function leaf within.trace)" 'leaf\(\) at within.c:2 from inner inlined at within.c:5' \
	"as text"

spi_trace -f within:leaf --backtrace -o backtrace.trace ./within >out
"$spi" calls --lines backtrace.trace >backtrace.txt
check "--backtrace: callers have lines, too" \
	grep -qE 'main\+0x[0-9a-f]+ \[within\] in inner inlined at within.c:5' backtrace.txt ||
	diag "$(cat backtrace.txt)"

# debuginfod: a server of ours.
if ldconfig -p | grep -q 'libdebuginfod\.so'; then
	mkdir -p "served/buildid/$id"
	cp "debug/.build-id/${id:0:2}/${id:2}.debug" "served/buildid/$id/debuginfo"
	(cd served && exec python3 -u -m http.server --bind 127.0.0.1 8765) >server.out 2>server.log &
	server=$!
	spi_wait 10 file_has server.out 'Serving'
	unlike "$(names whole)" 'shop::fib' "DEBUGINFOD_URLS is not set: no names"
	is "$(grep -c GET server.log)" 0 "and nobody is asked"
	is "$(DEBUGINFOD_URLS=http://127.0.0.1:8765 names whole)" "$expected" "DEBUGINFOD_URLS: the server has them"
	check "the server was asked" grep -q "GET /buildid/$id/debuginfo" server.log
	kill "$server"
else
	skip "debuginfod" "no libdebuginfod here"
fi

# Rust, both manglings
home=$(getent passwd "$(id -u)" | cut -d: -f6)
for rustc in "$home"/.rustup/toolchains/stable*/bin/rustc /usr/bin/rustc none; do
	[ ! -x "$rustc" ] || break
done
if [ "$rustc" != none ]; then
	cat >crab.rs <<'EOF_RS'
mod shapes {
	pub struct Disc(pub u64);
	impl Disc {
		#[inline(never)]
		pub fn area(&self) -> u64 { std::hint::black_box(self.0) * 3 }
	}
	#[inline(never)]
	pub fn twice<T: Copy + std::ops::Add<Output = T>>(t: T) -> T { std::hint::black_box(t) + t }
}
fn main() { println!("{}", shapes::twice(shapes::Disc(4).area())); }
EOF_RS
	for mangling in legacy v0; do
		RUSTC_BOOTSTRAP=1 "$rustc" -Z unstable-options -g -O -C symbol-mangling-version="$mangling" crab.rs \
			-o "crab-$mangling" 2>rustc.log ||
			diag "$(cat rustc.log)"
		tree_record "rust-$mangling" 'tree(main)' "./crab-$mangling" >out 2>&1
		"$spi" report --lines --object "crab-$mangling" "rust-$mangling" >rust.txt 2>&1
		like "$(cat rust.txt)" 'crab[^ ]*::shapes::(Disc::|Disc>::|\{impl#0\}::)area' "Rust, $mangling: names" || diag "$(head -n 20 rust.txt)"
		like "$(cat rust.txt)" 'shapes::twice[^ ]* at crab.rs:8 ' "Rust, $mangling: lines"
		is "$(grep -cE '_R[NIC]|_ZN|::h[0-9a-f]{16}' rust.txt)" 0 "Rust, $mangling: no mangled name is left"
	done
else
	skip "Rust" "no rustc here"
fi
tap_done
