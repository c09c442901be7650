#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Parameters and results that the compiler made constant or did away with: an
# event has the right value or says that there is none, and so does `-l`.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon

functions="one all_known unused mixed no_result calls_on no_real part_of text real eight nobody"

# compared NAME COMPILER OPTION... - build, run traced, hold the events against what the callers wrote down
compared() {
	local name=$1 rules=() out f
	shift
	if ! command -v "$1" >/dev/null; then
		skip 1 "no $1"
		return
	fi
	"$@" -g -w -o "$name" "$SPI_PROGRAMS/optimised-out.c" || { fail "$name: builds"; return; }
	for f in $functions; do
		rules+=(-f "$name:$f")
	done
	spi_trace "${rules[@]}" -o "$name.d" "./$name" >"$name.record" || diag "$(tail -n 5 "$SPI_TMP/trace.err")"
	spi_read "$name.d"
	out=$(events compare "$name.d.txt" "$name.record" 2>&1)
	ok $? "$name: every value is right or said to be not known"
	diag "$name: $(head -n 20 <<<"$out" | cut -c1-300)"
}

# says NAME EVENT TEXT - some such event has that text
says() {
	grep -aF " spi:$2: " "$1.d.txt" | grep -qaF "$3"
	ok $? "$1: $2 says $3"
}

compared gcc-O2 gcc -O2
says gcc-O2 one_entry 'mode = 7, '
says gcc-O2 real_entry 'f = 2.25, '
says gcc-O2 part_of_entry 'not_known = "p = <optimised out>"'
compared gcc-O0 gcc -O0
says gcc-O0 no_result_exit 'ret = 10 '
compared gcc-dwarf4 gcc -O3 -gdwarf-4
if command -v clang >/dev/null; then
	compared clang-O2 clang -O2
	says clang-O2 one_entry 'mode = 7, '
	says clang-O2 unused_entry 'not_known = "never = <optimised out>"'
	says clang-O2 no_result_exit 'not_known = "ret = <optimised out>"'
	says clang-O2 calls_on_exit 'not_known = "ret = <optimised out>"'
	says clang-O2 no_real_exit 'not_known = "ret = <'
	compared clang-O0 clang -O0
	says clang-O0 calls_on_exit 'ret = 14 '
	compared clang-dwarf4 clang -O2 -gdwarf-4
	list=$("$SPI_LTTNG" trace -l ./clang-O2 2>&1)
	like "$list" 'unused\(int never = <optimised out>, int x\)' "-l says which parameter is not there"
	like "$list" 'no_result\(int x\) = <optimised out>' "-l says that there is no result"
	spi_trace_ok "one event a call" --one-event -f clang-O2:mixed -f clang-O2:no_result -o one.d ./clang-O2
	spi_read one.d
	like "$(grep -aF ' spi:mixed: ' one.d.txt | tail -n 1)" \
		'd = 2.5, live = 2, not_known = "dead = <optimised out>", ret = 5, duration = ' "one event: parameters"
	like "$(grep -aF ' spi:no_result: ' one.d.txt | tail -n 1)" \
		'x = 2, not_known = "ret = <optimised out>", duration = ' "one event: the result"
else
	skip 13 "no clang"
fi
tap_done
