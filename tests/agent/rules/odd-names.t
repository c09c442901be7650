#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Functions with names that no C compiler makes by itself, and patterns with brackets, escapes and halves of them, mean the
# same for -f, as a tree's root and as what a tree leaves out.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >odd.c <<'EOF_C'
#define F(id, name) __attribute__((noipa)) int id(int a) __asm__(name); int id(int a) { return a + 1; }
F(dash, "\"-dash\"") F(lines, "two_lines") F(open, "\"odd[name\"") F(close, "\"odd]name\"") F(semicolon, "\"a;b\"")
F(one, "usual_1") F(two, "usual_2") F(hyphen, "\"usual_-\"") F(back, "\"usual_]\"")
__attribute__((noipa)) int größe(int a) { return a + 1; }
int main(void)
{
	return dash(1) + lines(1) + größe(1) + open(1) + close(1) + semicolon(1) + one(1) + two(1) + hyphen(1) + back(1) != 20;
}
EOF_C
gcc -O2 -g -w -c odd.c && objcopy --redefine-sym two_lines=$'two\nlines' odd.o && gcc -o odd odd.o ||
	{ echo "Bail out! odd.c does not compile"; exit 1; }

# named PATTERN EVENT... - the functions of these events, and no others, are recorded, once each
named() {
	local pattern=$1
	shift
	rm -rf t t.txt t.warn
	spi_trace -f "odd:$pattern" -o t ./odd
	spi_read t
	is "$(grep -ao 'spi:[^ ]*_entry: ' t.txt | tr -d '\n')" "$(printf 'spi:%s_entry: ' "$@")" "-f $(printf %q "$pattern")" ||
		diag "$(tail -n 4 trace.err)"
}
named -dash -dash
named $'two\nlines' two_lines
named 'two\nlines' two_lines
named 'two\x0alines' two_lines
named 'two?lines' two_lines
named größe gr____e
named 'odd[name' 'odd[name'
named 'odd*]n*' 'odd]name'
named 'odd[[]*' 'odd[name'
named 'a\x3bb' 'a;b'
named 'usual_[1\-]' usual_1 usual_-
named 'usual_[]2]' usual_2 'usual_]'
named 'usual_[\]2]' usual_2 'usual_]'
named 'usual_[!12]' usual_- 'usual_]'
named 'usual_[\x31-2]' usual_1 usual_2
spi_trace -f 'usual_[12' -o u ./odd
is $? 1 "an unclosed bracket is a character"

# excluded PATTERN NAME... - a tree without what the pattern names
excluded() {
	local pattern=$1
	shift
	rm -rf t t.txt t.warn
	spi_trace --tree=main --lib odd --exclude "$pattern" -v -o t ./odd
	spi_read t
	is "$(grep -c 'func_entry: ' t.txt)" $((11 - $#)) "--exclude $(printf %q "$pattern") leaves out $#: $*" ||
		diag "$(tail -n 4 trace.err)"
}
excluded -dash dash
excluded $'two\nlines' lines
excluded 'usual_[1\-]' one hyphen
excluded 'usual_[\]2]' back two
excluded 'usual_[!12]' hyphen back
excluded 'usual_[12'
excluded 'odd[name' open
spi_trace --tree=-dash -o d ./odd
spi_read d
is "$(grep -c 'func_entry: ' d.txt)" 1 "a root that begins with '-'"

spi_trace -f 'odd:_star?' -o r ./odd
like "$(cat trace.err)" "^Error: odd:_star\?: the process's first code, never called$" "where all is refused, the refusal is the message"
"${SPI_ALONE[@]}" LTTNG_SPI_RULES='odd:usual_*' LTTNG_SPI_CODEMAP=/bin/false LTTNG_SPI_DEBUG="$PWD/debug" ./odd
like "$(cat debug)" 'rule .odd:usual_.*/bin/false failed on ' "and where the object could not be looked at"
unlike "$(cat debug)" 'no loaded function matches' "which may have one"
tap_done
