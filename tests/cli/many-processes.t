#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng trace -p PID -p PID`: several processes in one session, each with the
# functions that it has; each is left as it was. What no process has, or one that
# has nothing, is an error before any is touched.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon

# busy NAME FUNCTION - a program that calls shared() and FUNCTION() a thousand times a second
busy() {
	cat >"$1.c" <<-EOF_C
		#include <stdio.h>
		#include <time.h>
		__attribute__((noipa)) int shared(int a) { return a + 1; }
		__attribute__((noipa)) int $2(int a) { return a * 2; }
		int main(void)
		{
			puts("ready");
			fflush(stdout);
			for (int i = 0;; i++) {
				struct timespec t = { 0, 1000000 };
				shared(i);
				$2(i);
				nanosleep(&t, NULL);
			}
		}
	EOF_C
	spi_cc "$1" "$PWD/$1.c"
}
busy one only_one
busy two only_two
background ./one
one=$target
background ./two
two=$target
background ./two
three=$target
text() { for pid in "$one" "$two" "$three"; do python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$pid" || return; done; }
check "before: the code is the files'" text

spi_trace_ok "three processes" -f shared -f one:only_one -f only_two -p "$one" -p "$two" -p "$three" --duration 0.5 -o t
check "after: the code is the files'" text
balanced t "every exit has its entry"
# with NAME - the processes that recorded this event
with() { grep -a " spi:$1: " t.txt | grep -o 'vpid = [0-9]*' | sort -u | wc -l; }
is "$(with shared_entry)" 3 "the function that all have, in all"
is "$(with only_one_entry)" 1 "the one that one has, in one"
is "$(with only_two_exit)" 2 "the one that two have, in two"
like "$(cat trace.err)" 'Functions instrumented: 6; not instrumented: 0' "the summary is of all"
is "$(lttng list | grep -c trace-)" 0 "no session is left"

spi_trace_ok "one of them, named twice" -f shared -p "$one" -p "$one" --duration 0.2 -o u
spi_read u
is "$(grep -o 'vpid = [0-9]*' u.txt | sort -u)" "vpid = $one" "recorded that one only"

spi_trace -f shared -f nosuch_function -p "$one" -p "$two" --duration 1 -o v
is $? 1 "a function that no process has: status"
like "$(cat trace.err)" '^Error: nosuch_function: no such function in one \(' "said"
is "$(wc -l <trace.err)" 1 "in one line"
spi_trace -f only_one -p "$one" -p "$two" --duration 1 -o v
is "$?:$(cat trace.err)" "1:Error: two ($two): has none of these functions" "a process that has none"
spi_trace -f shared -p "$one" -p 999999 --duration 1 -o v
is "$?:$(cat trace.err)" "1:Error: 999999: no such process" "a process that is not there"
check "no directory was made" [ ! -e v ]

# One that ends does not end the others' tracing; when all have ended, it is over.
rm -f trace.err
"$SPI_LTTNG" trace -f shared -p "$one" -p "$two" -p "$three" -o w 2>trace.err &
tracer=$!
spi_wait 20 file_has trace.err 'Trace directory' || diag "$(cat trace.err)"
rounds() { awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$three/status"; }
began=$(rounds)
spi_wait 10 eval '[ "$(rounds)" -gt $((began + 2)) ]'	# each of them calls in between
finish "$one" 2>/dev/null
kill -0 "$tracer" 2>/dev/null
ok $? "the first end: goes on"
finish "$two" 2>/dev/null
finish "$three" 2>/dev/null
wait "$tracer"
is $? 0 "all ended: status"
balanced w "balanced, but for what was open"
tap_done
