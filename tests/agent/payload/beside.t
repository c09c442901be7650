#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `--payload hist -o DIR`: the histogram and the recorded trace of one run agree. Values are the same. Of latencies the
# numbers are the same, and each recorded one is longer by the time between the two pairs of clock readings.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
. "$SPI_TOP_SRCDIR/tests/lib/hist.sh"
spi_private "$@"
spi_cc values hist-values.c -fno-optimize-sibling-calls
spi_daemon
./values >plain.out

# run NAME QUESTION FUNCTION... - the trace is in ./NAME
run() {
	local name=$1 question=$2 functions=()
	shift 2
	for f; do functions+=(-f "$f"); done
	spi_trace "${functions[@]}" --payload "$question" -o "$name" ./values >traced.out
	is $? 0 "$question: status" || diag "$(cat trace.err)"
	same_file traced.out plain.out "$question: output"
	spi_read "$name" || diag "$(cat trace.err)"
}
# by QUESTION FUNCTION EVENT FIELD - its values in the trace
by() {
	run "$1" "$1" "$2"
	grep -a " spi:$2_$3: " "$1.txt" | sed "s/.*[ {]$4 = \(-*[0-9]*\).*/\1/" >list
	expect list >expected
	table "$2" >got
	same_file got expected "$1 of $2: number, sum, least, most and rows as the trace has them" ||
		diag "$(cat trace.err)"
}
by hist=number mixed entry number
by hist=small mixed entry small
by hist=seventh mixed entry seventh
by hist=return mixed exit ret
by hist=depth down entry depth
is "$(wc -l <list)" 55 'each call of a recursion'

# ---- latency ----
run latency hist mixed down slow
is "$(grep -Eac ' spi:(mixed|down|slow)_(entry|exit): ' latency.txt)" 516 'latency: the trace is whole'
babeltrace2 --clock-seconds latency >seconds.txt
# recorded FUNCTION - number and sum, from the time of an entry to that of its exit
recorded() {
	python3 - "$1" <<-'END'
		import re, sys
		name, open_calls, number, total = sys.argv[1], [], 0, 0
		for line in open('seconds.txt'):
		    match = re.match(r'\[(\d+)\.(\d{9})\].* spi:(\w+)_(entry|exit): ', line)
		    if not match:
		        continue
		    now = int(match[1]) * 10 ** 9 + int(match[2])
		    if match[4] == 'entry':
		        open_calls.append((match[3], now))
		        continue
		    function, began = open_calls.pop()
		    assert function == match[3]
		    if function == name:
		        number, total = number + 1, total + now - began
		assert not open_calls
		print(number, total)
	END
}
for f in mixed down slow; do
	read -r number sum <<<"$(table "$f" | sed -n 's/^count \([0-9]*\), sum \([0-9]*\),.*/\1 \2/p')"
	read -r number_recorded sum_recorded <<<"$(recorded "$f")"
	is "$number" "$number_recorded" "latency of $f: the number of calls"
	between=$(((sum_recorded - sum) / number))
	check "latency of $f: a recorded one is longer" [ "$between" -gt 0 ]
	# after a sleep caches are cold
	[ "$f" = slow ] || spi_soon "$between" 1000 "latency of $f: by so many ns a call"
	check "latency of $f: by less than 100 us a call" [ "$between" -lt 100000 ]
done

# ---- a payload that cannot be loaded: nothing runs, and nothing is recorded ----
spi_trace -f mixed --payload ./none.so -o none ./values >traced.out
is $? 2 'no such payload: status'
spi_trace -f mixed --payload hist=nothing -o none ./values >traced.out
is $? 1 'no such parameter: status' || diag "$(cat trace.err)"
is "$(wc -c <traced.out)" 0 'no such parameter: the program has not run'
tap_done
