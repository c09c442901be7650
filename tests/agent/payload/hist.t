#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `--payload hist`: calls, sums and rows are those of the trace of the same calls; values by a parameter's name, by its
# number, and of the result.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
. "$SPI_TOP_SRCDIR/tests/lib/hist.sh"
spi_private "$@"
spi_cc values hist-values.c -fno-optimize-sibling-calls
./values >plain.out

# by NAME ARG FUNCTION VALUES - values: a column of what the program prints
by() {
	spi_trace -f "$3" --payload "hist=$2" ./values >traced.out
	same_file traced.out plain.out "$1: output"
	awk -v f="$3" -v n="$4" '$1 == f { print $n }' plain.out >list
	table "$3" >got
	expect list >expected
	same_file got expected "$1" || diag "$(cat trace.err)"
}
by 'a signed parameter, with negative values' number mixed 2
by 'by its place' arg1 mixed 2
by 'an unsigned char' small mixed 3
by 'a double' real mixed 4
by 'on the stack' seventh mixed 5
by 'a member of a struct' pair_second mixed 6
by 'the result' return mixed 7
by 'each call of a recursion' depth down 2

gcc -O1 -g -o odd -x c - <<-'END'
	#define KEPT __attribute__((noinline, noipa))
	KEPT __int128 wide(__int128 v) { return v; }
	KEPT long double longer(long double v) { return v; }
	KEPT double real(double v) { return v; }
	int main(void)
	{
		wide((__int128) 1 << 100);
		longer(1.5L);
		real(__builtin_nan(""));
		real(-2.5);
		real(1e30);
		return 0;
	}
END
spi_trace -f wide -f longer -f real --payload hist=return ./odd
is "$(table wide; table longer)" "$(printf 'count 0; calls whose value is not known: 1\n%.0s' 1 2)" 'values that are no number of 64 bits are not known' ||
	diag "$(cat trace.err)"
like "$(table real)" 'count 2, .* minimum -2, maximum 9223372036854775807; calls whose value is not known: 1' 'nor is a NaN' || diag "$(cat trace.err)"

strip -o bare values
spi_trace -f 0x"$(nm values | awk '$3 == "mixed" { print $1 }')" --payload hist=arg1 ./bare >/dev/null
like "$(cat trace.err)" 'count 200, ' 'argN without debug info' || diag "$(cat trace.err)"

# ---- latency: the calls of the recorded trace, and what takes long takes long ----
spi_trace -f down -f slow --payload hist ./values >/dev/null
like "$(table down)" 'count 55, ' 'latency: each call of a recursion counts' || diag "$(cat trace.err)"
like "$(table slow)" 'count 3, sum [0-9]{8,9}, average [0-9]{7,8}, minimum [0-9]{7,8},' 'latency: 5 ms each' || diag "$(cat trace.err)"

# in the same run as LTTng's records
spi_daemon
record() { lttng create hist -o t >log 2>&1 && lttng enable-event -u 'spi:*' >>log 2>&1 && lttng start >>log 2>&1; }
record || diag "$(cat log)"
"${SPI_ALONE[@]}" LTTNG_UST_REGISTER_TIMEOUT=-1 LTTNG_SPI_RULES='call(mixed;payload=hist;payload-arg=by=number);call(mixed;one-event)' \
	./values >/dev/null 2>trace.err
{ lttng stop && lttng destroy; } >log 2>&1
spi_read t
grep -a ' spi:mixed: ' t.txt | sed 's/.* number = \(-*[0-9]*\).*/\1/' >list
expect list >expected
table mixed >got
same_file got expected 'as the trace of the same run says' || diag "$(cat trace.err)"
is "$(wc -l <list)" 200 'and that has all calls'

# ---- a running process, one question after the other ----
gcc -O1 -g -o loop -x c - <<-'END'
	#include <stdio.h>
	#include <time.h>
	static volatile int sink;
	__attribute__((noinline)) long work(int number, long size) { sink += number; return number + size; }
	int main(void)
	{
		const struct timespec ts = { 0, 200000 };

		puts("ready");
		fflush(stdout);
		for (int i = 0; ; i++) {
			sink = (int) work(i % 100, -(i % 7));
			nanosleep(&ts, NULL);
		}
	}
END
background ./loop
for question in hist hist=number hist=size hist=return hist; do
	spi_trace -f work --payload $question -p "$target" --duration 0.4 >/dev/null
	is $? 0 "a running process, $question: status" || diag "$(cat trace.err)"
	bounds= least= most=
	case $question in
	hist=number) bounds='0 99' ;;
	hist=size) bounds='-6 0' ;;
	hist=return) bounds='-6 99' ;;
	esac
	read -r least most <<<"$(sed -n 's/^count [1-9].*minimum \(-*[0-9]*\), maximum \([0-9]*\)$/\1 \2/p' trace.err)"
	if [ -n "$bounds" ]; then
		is "$least $most" "$bounds" "a running process, $question: from and to" || diag "$(cat trace.err)"
	else
		check "a running process, $question: latency" test "${least:-0}" -gt 10 || diag "$(cat trace.err)"
	fi
done
spi_trace -f work --payload hist=nothing -p "$target" --duration 0.4 >/dev/null
like "$(cat trace.err)" 'it has no parameter nothing' 'a running process: no such parameter' || diag "$(cat trace.err)"
check 'a running process: it goes on' kill -0 "$target"
finish "$target" 2>/dev/null

# ---- what cannot be ----
spi_trace -f mixed --payload hist=nothing ./values >traced.out
is $? 1 'no such parameter: status'
like "$(cat trace.err)" 'mixed: it has no parameter nothing; it has number' 'no such parameter: the reason' || diag "$(cat trace.err)"
is "$(grep -c . trace.err)" 1 'no such parameter: one line' || diag "$(cat trace.err)"
is "$(wc -c <traced.out)" 0 'no such parameter: the program has not run'
spi_trace -f nothing_back --payload hist=return ./values >traced.out
like "$(cat trace.err)" 'it returns nothing' 'no result: the reason' || diag "$(cat trace.err)"
spi_trace -f unused --payload hist ./values >traced.out
is "$(grep ^hist trace.err)" 'hist: none of the functions was called' 'no call' || diag "$(cat trace.err)"
spi_trace --payload hist=number ./values >traced.out
is $? 2 'without -f: status'
like "$(cat trace.err)" 'goes with -f FUNC' 'without -f: the reason' || diag "$(cat trace.err)"
tap_done
