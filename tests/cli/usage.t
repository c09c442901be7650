#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Command lines of `lttng trace` that make no sense: status 2, one line, nothing
# started. And the help.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"

# wrong REGEX ARGS...
wrong() {
	local regex=$1 out
	shift
	out=$("$SPI_LTTNG" "$@" 2>&1 </dev/null)
	is $? 2 "lttng $*: status"
	is "$(wc -l <<<"$out")" 1 "lttng $*: one line" || diag "$out"
	like "$out" "$regex" "lttng $*: says why"
}

wrong 'FUNC' trace
wrong '-f' trace -f
wrong 'COMMAND' trace -f x
wrong 'COMMAND' trace -f x ''
wrong 'function' trace -f '' true
wrong '--bogus' trace --bogus
wrong 'BINARY' trace -l
wrong 'BINARY' trace -l a b
wrong 'BINARY' trace -l -p 1 a
wrong '-l' trace -l -o dir true
wrong 'not both' trace -f x -p 1 true
wrong 'duration' trace -f x --duration 1 true
wrong '--duration: 0' trace -f x -p 1 --duration 0
wrong '--duration: -1' trace -f x -p 1 --duration -1
wrong '--duration: nan' trace -f x -p 1 --duration nan
wrong '--duration: 1s' trace -f x -p 1 --duration 1s
wrong '--pid: abc' trace -f x -p abc
wrong '--pid: 0' trace -f x -p 0
wrong '--pid: 1x' trace -f x -p 1x
wrong '--pid: 99999999999999999999' trace -f x -p 99999999999999999999
wrong '--string-max: 3' trace -f x --string-max 3 true
wrong '--string-max: 15 .*from 16 to 2000' trace -f x --string-max 15 true
wrong '--string-max: 2001 .*from 16 to 2000' trace -f x --string-max 2001 true
wrong 'power of two' trace -f x --subbuf-size 5000 true
wrong '--subbuf-size: 4q' trace -f x --subbuf-size 4q true
wrong '--subbuf-size: 99999G' trace -f x --subbuf-size 99999G true
wrong 'power of two' trace -f x --num-subbuf 3 true
wrong '--output' trace -f x -o '' true
wrong '--duration: 0x10 is not' trace -f x -p 1 --duration 0x10
wrong '--mi' --mi xml trace -f x true

for option in -h --help; do
	out=$("$SPI_LTTNG" trace $option 2>err)
	is $? 0 "$option: status"
	like "$out" '^Usage: lttng' "$option: on stdout"
	is "$(cat err)" "" "$option: nothing else"
done
is "$("$SPI_LTTNG" help trace)" "$("$SPI_LTTNG" trace --help)" "lttng help trace"
is "$("$SPI_LTTNG" trace --list-options | grep -cx -e --tree -e --function -e -f -e --list-options)" 4 "--list-options"
# What was typed does not end the line.
is "$("$SPI_LTTNG" trace -f x -o d --duration $'a\nb' -p 1 2>&1)" "Error: --duration: a?b is not a positive number of seconds" \
	"nor is it obeyed by a terminal"
# COMMAND's options are its own.
out=$("$SPI_LTTNG" trace -f x /nonexistent/command -h --bogus 2>&1)
is $? 127 "options behind COMMAND are not ours" || diag "$out"
out=$("$SPI_LTTNG" trace -f x -- /nonexistent/command 2>&1)
is $? 127 "-- ends the options"
is "$("$SPI_LTTNG" -q trace -f x /nonexistent/command 2>&1)" "" "-q says nothing"
is "$("$SPI_LTTNG" trace -q -f x /nonexistent/command 2>&1)" "" "trace -q says nothing"
"$SPI_LTTNG" trace --help >/dev/full 2>/dev/null
is $? 1 "a help that cannot be written"
tap_done
