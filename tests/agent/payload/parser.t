#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A parser of a user's own gives functions and calls of code that is made at run time: the payload then sees the calls
# by these names. Without the parser, or where the parser knows nothing, it does not; the program runs as ever.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc made-jit made-jit.c -O1 -rdynamic
payload_cc parser.so parser.c
payload_cc whole.so payload-parser.c
./made-jit plain.map 3 >plain.out
is "$(cat plain.out)" 9 'the program: what its code computes'

# What the code of one round does, by its source.
round() {
	printf '%s\n' 'main -> jit_outer' 'jit_outer -> jit_inner' 'jit_inner -> jit_leaf' 'jit_outer -> labs' \
		'jit_outer -> jit_leaf'
}
for i in 1 2 3; do round; done >truth

for mode in rx rwx dual; do
	LD_PRELOAD=./parser.so LTTNG_SPI_PAYLOAD_ARGS="map=$PWD/made.map" \
		./made-jit made.map 3 $mode >made.out 2>made.err
	is $? 0 "the example, $mode: status"
	same_file made.out plain.out "the example, $mode: the program prints what it prints"
	same_file made.err truth "the example, $mode: each call by the parser's names, in their order"
done

# whole HOW [ROUNDS [MODE]] - made.out, made.err; calls and results are in ./calls
whole() {
	LD_PRELOAD=./whole.so LTTNG_SPI_PAYLOAD_ARGS="how=$1;map=$PWD/made.map" \
		./made-jit made.map "${2:-3}" "${3:-rx}" >made.out 2>made.err
	is $? 0 "$1: status" || diag "$(cat made.err)"
	grep -e ' -> ' made.err >calls
}
whole whole
same_file made.out plain.out 'one region: the program prints what it prints'
same_file calls truth 'one region: each call, in their order' || diag "$(cat made.err)"
is "$(grep -c '^jit_outer = ' made.err)" 3 'one region: exits come, too'
is "$(grep '^jit_outer = ' made.err | tr '\n' ' ')" 'jit_outer = 2 jit_outer = 3 jit_outer = 4 ' \
	'one region: with their results'
is "$(grep '^asked' made.err)" 'asked 1' 'one region: the parser is asked once'

whole none
same_file made.out plain.out 'without a parser: the program prints what it prints'
is "$(wc -l <calls)" 0 'without a parser: no call by such a name'
whole enoent
same_file made.out plain.out 'a parser that knows nothing: the program prints what it prints'
is "$(wc -l <calls)" 0 'a parser that knows nothing: no call by such a name'
is "$(grep '^asked' made.err)" 'asked 1' 'a parser that knows nothing: is asked once'

whole advance
same_file calls truth 'known in advance: each call, in their order' || diag "$(cat made.err)"
is "$(grep '^added' made.err)" "added jit, again: -17" 'known in advance: twice the same is refused'

whole forget 4 again
is "$(cat made.out)" 14 'code that goes, and comes again: the program prints what it prints'
like "$(cat made.err)" 'forgotten: 0, again: -22, changed: 1, now: 0, there: 0' 'code that goes: its bytes are put back'
is "$(grep -c 'main -> jit_outer' calls)" 4 'code that comes again: is known again' || diag "$(cat made.err)"
is "$(grep -c 'jit_inner -> jit_leaf' calls)" 4 'code that comes again: its calls, too'
is "$(grep '^asked' made.err)" 'asked 2' 'code that comes again: the parser is asked again'

whole whole 4 again
is "$(cat made.out)" 14 'code that goes without a word: the program prints what it prints'
check 'code that goes without a word: what came before it went was seen' \
	test "$(grep -c 'jit_inner -> jit_leaf' calls)" -ge 2

counts() { sort calls | uniq -c | awk '{ printf "%s ", $1 }'; }
whole whole 50 threads
is "$(cat made.out)" "$(./made-jit plain.map 50 threads)" 'four threads at once: the program prints what it prints'
is "$(counts)" '200 200 200 200 200 ' 'four threads at once: each call' || diag "$(sort calls | uniq -c)"
is "$(grep '^asked' made.err)" 'asked 1' 'four threads at once: the parser is asked once'
whole whole 6 fork
is "$(cat made.out)" 27 'a child: the program prints what it prints'
is "$(counts)" '6 6 6 6 6 ' 'a child: its calls, too' || diag "$(sort calls | uniq -c)"

# under HOW - the same by `lttng trace`, which says what the agent notes, in trace.err
under() {
	spi_trace --tree --payload ./whole.so --payload-arg how="$1" --payload-arg map="$PWD/made.map" \
		./made-jit made.map 3 >made.out
	is $? 0 "lttng trace, $1: status" || diag "$(cat trace.err)"
	same_file made.out plain.out "lttng trace, $1: the program prints what it prints"
	grep -e ' -> ' trace.err >calls
}
under whole
same_file calls truth 'lttng trace: each call, in their order' || diag "$(cat trace.err)"
under outside
like "$(cat trace.err)" "its parser's region .* is not taken: a function has no name, no size, or is outside of it" \
	'a region with a function outside of it: refused, with the reason' || diag "$(cat trace.err)"
under wrong
is "$(sort -u calls)" 'main -> jit_outer' 'call instructions of a wrong size: left alone'
like "$(cat trace.err)" 'it is no call instruction of this size' 'and named' || diag "$(cat trace.err)"
under alone
is "$(grep -c 'jit_inner -> jit_leaf' calls)" 3 'a call through a register alone: the others are seen'
[ "$(grep -c 'jit_outer -> labs' calls)" = 3 ] || grep -q 'jit:jit_outer+0x' trace.err
ok $? 'a call through a register alone: it is seen, or named' || diag "$(cat trace.err)"
under wild
like "$(cat trace.err)" 'payload whole.so: it has faulted, or called abort\(\): it is switched off' \
	'a parser that gives no memory: named'
under fault
like "$(cat trace.err)" 'payload whole.so: it has faulted, or called abort\(\): it is switched off' \
	'a parser that faults: named'
tap_done
