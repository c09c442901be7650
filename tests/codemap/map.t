#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Code maps: names and events, fields, entry code, what is skipped, and where the map goes.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
plan 43
cd "$tmp" || exit 1
$CC -O2 -g -w -o prog "$here/sample.c" && $CXX -O2 -g -w -o cpp "$here/sample.cc" || { echo 'Bail out! no compiler'; exit 1; }
map() {	# FILE PATTERN...
	file=$1
	shift
	args=()
	for p in "$@"; do args+=(--pattern "$p"); done
	"$codemap" map -o out.map "${args[@]}" "$file" && mapdump out.map
}
events() { awk -F'\t' '/^func/ { print $2 }'; }

# fields
map ./prog move_point > out
is "$(grep -E '^(in|out|label) ' out)" "in p_x INT GPR 5 0 4 1 10 0 0 0	int
in p_y INT GPR 5 4 4 1 10 0 0 0	int
in p_tag TEXT GPR 4 0 1 0 10 4 0 0	char[4]
in c ENUM GPR 1 0 4 1 10 0 0 0	enum color
label 0 RED
label 5 GREEN
label -1 BLUE
in by FLOAT XMM 0 0 8 0 10 0 0 0	double
out ret_x INT GPR 0 0 4 1 10 0 0 0	int
out ret_y INT GPR 0 4 4 1 10 0 0 0	int
out ret_tag TEXT GPR 1 0 1 0 10 4 0 0	char[4]" 'struct by value, enum with labels, double'
map ./prog stretch > out
is "$(grep -E '^(in|out) ' out)" "in a LONG_DOUBLE STACK 0 0 16 0 10 0 0 0	long double
in b FLOAT XMM 0 0 4 0 10 0 0 0	float
in c BOOL GPR 5 0 1 0 10 0 0 0	_Bool
in d CHAR GPR 4 0 1 1 10 0 0 0	char
out ret LONG_DOUBLE X87 0 0 16 0 10 0 0 0	long double" 'long double, float, bool, char'
is "$(map ./prog visit | grep -E '^in (path|sb)')" "in path STRING GPR 5 0 8 0 16 0 0 0	const char *
in sb POINTER GPR 4 0 8 0 16 0 0 0	const struct stat *" 'strings and pointers'
map ./prog jumper > out
is "$(grep -cE '^in arg[1-6] INT GPR [0-9]+ 0 8 0 16 ' out) $(grep -c '^out ret INT GPR 0 0 8 0 16 ' out)" '6 1' 'no debug info: six words in hexadecimal, and one back'
printf '.text\n.globl made\n.type made, @function\nmade:\n\tlea 1(%%rdi), %%rax\n\tret\n.size made, . - made\n.section .note.GNU-stack\n' > made.s
$CC -g -shared -o made.so made.s
map ./made.so made > out
is "$(grep -cE '^in arg[1-6] INT GPR [0-9]+ 0 8 0 16 ' out) $(grep -c '^out ret INT GPR 0 0 8 0 16 ' out)" '6 1' "the same for debug info of an assembler's, which knows no parameters"
ok "$(map ./prog visit | grep -q "	[^	]*sample.c:[0-9]*\$"; echo $?)" 'source file and line'

# flags: HAS_DWARF 1, VARIADIC 2, NORETURN 4, LOOPS 8, SRET 20, RETURNS_VALUE 80, X87 400
flags() { map ./prog "$1" | awk '/^func/ { print $4 }'; }
is "$(for f in report give_up loops stretch nothing; do flags $f; done | tr '\n' ' ')" '83 5 88 481 1 ' 'variadic, noreturn, loop to the entry, x87 return, no value'
is "$(map ./cpp 'ns::Foo::make' | awk '/^func/ { print $4 }')" a1 'C++: hidden pointer for the return value'

# code
is "$(map ./prog jumped_into | awk '/^insn/ { print $2, $3, $4, $5 }' | head -2)" '0 3 PLAIN 0
3 4 PLAIN 1' 'a jump from elsewhere between the first instructions'
addr=$(nm prog | awk '$3 == "visit" { print $1 }')
is "$(map ./prog visit | sed -n 's/^bytes //p' | cut -c1-20)" "$(objcopy -O binary --only-section=.text prog text.bin; start=$((0x$(readelf -SW prog | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) .*/\1/p'))); od -An -v -tx1 -j$((0x$addr - start)) -N10 text.bin | tr -d ' \n')" 'the entry bytes are the file'"'"'s'
map ./prog '*' > out
objdump -d --no-show-raw-insn prog | sed -n 's/^ *\([0-9a-f]*\):\t.*/\1/p' | sort > starts
awk '/^func/ { v = $2 } /^insn/ { print v, $2 }' out | while read -r v o; do printf '%x\n' $((0x$v + o)); done | sort -u > mine
is "$(comm -23 mine starts | wc -l)" 0 'every instruction begins where objdump has one'

# names
is "$(map ./prog alias_of_it | awk -F'\t' '/^func/ { print $1, $2 }' | awk '{ print $5, $6 }')" 'alias_of_it alias_of_it' 'the alias that was asked for'
is "$(map ./prog 'ori*' | events)" 'original' 'else the best one'
is "$(map ./prog original alias_of_it | grep -c ^func)" 1 'one function, however many names'
is "$(map ./prog "0x$addr" | events)" visit 'by address'
is "$(map ./prog '[vw]*k' 'no\thing' 'le?gth' | events | tr '\n' ' ')" 'walk length nothing ' 'globs: brackets, backslash, question mark'
is "$(map ./cpp 'ns::over' | events | tr '\n' ' ')" 'ns::over ns::over@2 ns::over@3 ' 'overloads are numbered by address'
is "$(map ./cpp 'ns::over(double)' | events)" 'ns::over@2' 'with parameters; the number does not depend on what else is asked for'
is "$(map ./cpp _ZN2ns4overEi | events)" 'ns::over' 'by linkage name'
is "$(map ./cpp 'ns::Foo::tmpl<long>' | events)" 'ns::Foo::tmpl<long>' 'templates keep their arguments, and lose the return type'
is "$(map ./cpp 'ns::Foo::operator[]' 'ns::Foo::operator<' 'ns::Foo::operator bool' 'ns::Foo::operator()' | events | sort | tr '\n' ';')" 'ns::Foo::operator bool;ns::Foo::operator();ns::Foo::operator<;ns::Foo::operator[];' 'operators'
is "$(map ./cpp '(anonymous namespace)::anon' | awk -F'\t' '/^func/ { print $3 }')" '(anonymous namespace)::anon(std::vector<int, std::allocator<int> > v, int &&rv, decltype(nullptr) n)' 'anonymous namespace, references'
is "$(map ./cpp 'ns::Foo::nt' | grep '^in ')" "in this POINTER GPR 4 0 8 0 16 0 0 0	ns::Foo *const
in p_a INT MEMORY 1 0 4 1 10 0 0 0	int
in q INT GPR 2 0 4 1 10 0 0 0	int" 'this, and a class passed by invisible reference'
is "$(map ./cpp 'ns::stat_' | grep '^in ')" "in t_a INT GPR 5 0 4 1 10 0 0 0	int
in t_b FLOAT XMM 0 0 8 0 10 0 0 0	double
in z INT GPR 4 0 4 1 10 0 0 0	int" 'trivial class by value, empty class nowhere'
is "$(map ./cpp 'ns::col' | grep -E '^(in|label) ')" "in c ENUM GPR 5 0 1 0 10 0 0 0	ns::Col
label 0 Red
label 7 Blue" 'enum class'

# what has no point
is "$(map ./prog '_start' main | awk -F'\t' '/^skip/ { print $2 }')" "the process's first code, never called" '_start is skipped'
libc=$(ldd "$(command -v cat)" | awk '/libc.so/ { print $3 }')
map "$libc" '*' > out
is "$(for f in vfork _setjmp getcontext swapcontext; do grep -E "^skip [0-9a-f]+ (__|_|)$f	" out | head -1 | cut -f2; done | sort | uniq -c | tr -s ' ')" ' 4 returns twice' 'vfork, setjmp, getcontext'
ok "$(grep -q "^skip.*	the way back from signal handlers, never called" out; echo $?)" 'signal return'
# the union of function symbols and FDE starts, as readelf shows them, against what the map has
symbols_of() {
	{
		for f in "$@"; do readelf -sW "$f" 2> /dev/null; done | awk '($4 == "FUNC" || $4 == "IFUNC") && $7 ~ /^[0-9]+$/ { print $2 }'
		readelf --debug-dump=frames "$1" 2> /dev/null | sed -n 's/.* FDE .*pc=\([0-9a-f]*\)\.\..*/\1/p'
	} | sed 's/^0*//' | grep -v '^$' | sort -u
}
for prog in git python3 sqlite3; do
	path=$(readlink -f "/usr/bin/$prog")
	if [ ! -f "$path" ]; then skip 1 "no $prog"; continue; fi
	map "$path" '*' > out
	lost=$(awk -F'\t' '/^skip/ && $2 !~ /part of another|linkage stub|never called|convention/' out | wc -l)
	total=$(sed -n 's/^map [0-9a-f]* \([0-9]*\) .*/\1/p' out)
	ok "$((lost * 100 >= total))" "$prog: $lost of $total functions without a point, under 1 %"
done
id=$(readelf -n "$libc" | sed -n 's/.*Build ID: //p')
map "$libc" '*' > out
have_now=$(awk '/^(func|skip)/ { print $2 }' out | sort -u)
is "$(symbols_of "$libc" "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" | comm -23 - <(printf '%s\n' "$have_now") | wc -l)" 0 'libc: every function symbol and FDE is in the map or named as skipped'

# limits and outputs
"$codemap" map --limit 3 --pattern '*' -o out.map ./prog
mapdump out.map > out
is "$(grep -c ^func out) $(awk -F'\t' '/^skip/ && $2 ~ /limit/' out | wc -l | sed 's/[0-9]\{2,\}/many/') $(($(awk '/^map/ { print "0x" $2 }' out) & 4))" '3 many 4' '--limit'
"$codemap" map --pattern visit ./prog > piped.map
ok "$(mapdump piped.map > /dev/null; echo $?)" 'to standard output'
$CC -O1 -w -o memfd "$here/memfd.c"
is "$(./memfd "$codemap" map --pattern visit --output-fd 9 ./prog)" 'sealed: seal shrink grow write' 'into a memfd, sealed'
"$codemap" map --pattern 'no_such*' -o none.map ./prog 2> err
is "$? $(wc -l < err) $([ -e none.map ]; echo $?)" '3 1 1' 'nothing matches: status 3, one line, no file'

# names that are near
is "$("$codemap" find visti ./prog > found; echo "$? $(head -1 found) $(($(wc -l < found) <= 5))")" '1 visit 1' 'find: a misspelt name'
is "$("$codemap" find move_point ./prog; echo $?)" "$(printf 'move_point\n0')" 'find: the name itself'
is "$("$codemap" find Foo::mkae ./cpp | head -1)" 'ns::Foo::make' 'find: a method'

# detail on demand, and text
"$codemap" map --tree -o tree.map ./prog
"$codemap" map --tree --detail -o detail.map ./prog
"$codemap" map --tree -o again.map ./prog
ok "$(cmp -s tree.map again.map; echo $?)" 'a tree'\''s map is the same, whether detail was asked for or not'
detail_at() { od -An -tu8 -j232 -N8 "$1" | tr -d ' '; }
is "$(detail_at tree.map) $(($(detail_at detail.map) > 240))" '0 1' 'detail is there where it was asked for'
is "$("$codemap" text 401000 e8fbffffff06c3; echo $?)" '401000: call 0x401000
401005: .byte 0x06
401006: ret
0' 'text: instructions, a line each'
"$codemap" text 401000 e8f > out 2> err
is "$?" 2 'text: half a byte is a wrong use'
