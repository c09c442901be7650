#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A run's trace has its own processes' events alone, what they say of their libraries included: nothing of a process that
# another run is tracing, that an earlier one has traced, or that is registered with the session daemon by itself.
# And nothing of the run's own is missing: of children, of what these execute, and of who was traced before.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon

cat >work.c <<'EOF_C'
/* work TIMES [CHILDREN] - calls, and has so many children do it, four at a time; every second one executes this program anew */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noipa)) int work(int value)
{
	volatile int v = value;

	return v;
}

int main(int argc, char **argv)
{
	int children = argc > 2 ? atoi(argv[2]) : 0, failed = 0, status;

	for (int i = 0; i < atoi(argv[1]); i++)
		work(i);
	children -= children % 4;
	for (int i = 0; i < children + 4; i++) {
		if (i >= 4)
			failed += wait(&status) < 0 || status;
		if (i < children && !fork()) {
			if (i % 2)
				execl("/proc/self/exe", argv[0], "1", NULL);
			return work(i) != i;
		}
	}
	for (int c; argc > 3 && (c = getchar()) != EOF;) {
		work(c);
		printf("called\n");
		fflush(stdout);
	}
	return failed;
}
EOF_C
spi_cc work "$PWD/work.c"

vpids() { grep -ao 'vpid = [0-9]*' "$1" | cut -d ' ' -f 3 | sort -u; }
# dumped FILE - the vpids of whole state dumps with the program and libc in them
dumped() {
	awk 'match($0, /vpid = [0-9]+/) { p = substr($0, RSTART + 7, RLENGTH - 7) }
		/lttng_ust_statedump:start/ { a[p] = 1 } /lttng_ust_statedump:bin_info.*\/work"/ { b[p] = 1 }
		/lttng_ust_statedump:bin_info.*\/libc\.so/ { c[p] = 1 } /lttng_ust_statedump:build_id/ { d[p] = 1 }
		/lttng_ust_statedump:end/ { if (a[p] && b[p] && c[p] && d[p]) print p }' "$1" | sort -u
}

# One that was traced, one that is, and one that knows LTTng by itself.
mkfifo in1 in2
./work 0 0 wait <in1 >former.out &
former=$!
exec {former_in}>in1
"$SPI_LTTNG" trace -f work -p "$former" -o first 2>first.err &
tracer=$!
spi_wait 20 file_has first.err 'Trace directory' || diag "$(cat first.err)"
echo >&"$former_in"
spi_wait 10 file_has former.out called
kill -INT "$tracer"
wait "$tracer"
"$SPI_LTTNG" trace -f work -o other ./work 1 0 wait <in2 >other.out 2>other.err &
other=$!
exec {other_in}>in2
spi_wait 20 file_has other.err 'Trace directory' || diag "$(cat other.err)"
LD_PRELOAD=liblttng-ust.so.1 sleep 300 {former_in}>&- {other_in}>&- &
native=$!
registered() { [ "$(lttng list -u 2>/dev/null | grep -c "^PID: ")" -ge 3 ]; }
spi_wait 20 registered || diag "$(lttng list -u)"

spi_trace -f work -o typed ./work 2 >out
is $? 0 "the program ends as it should" || diag "$(tail -n 5 trace.err)"
spi_read typed
is "$(vpids typed.txt | wc -l)" 1 "functions: the events of one process" || diag "$(vpids typed.txt)"
is "$(dumped typed.txt)" "$(vpids typed.txt)" "functions: its state dump"
is "$(grep -c ' spi:work_entry' typed.txt)" 2 "functions: its calls"
for how in plain compact; do
	option=
	[ "$how" = plain ] || option=--compact
	spi_trace --tree --lib work $option -o "$how" ./work 2 >out
	spi_read "$how"
	is "$(vpids "$how.txt" | wc -l)" 1 "tree, $how: the events of one process" || diag "$(vpids "$how.txt")"
	is "$(dumped "$how.txt")" "$(vpids "$how.txt")" "tree, $how: its state dump"
done

# A process that an earlier run has traced.
lines=$(wc -l <former.out)
"$SPI_LTTNG" trace --tree=work --lib work -p "$former" -o again 2>again.err &
tracer=$!
spi_wait 20 file_has again.err 'Trace directory' || diag "$(cat again.err)"
echo >&"$former_in"
spi_wait 10 eval "[ \$(wc -l <former.out) -gt $lines ]"
kill -INT "$tracer"
wait "$tracer"
spi_read again
is "$(vpids again.txt)/$(dumped again.txt)" "$former/$former" "-p: a process that was traced before says where its libraries are"
is "$(grep -c 'func_entry' again.txt)" 1 "-p: and its calls are there"

# Children that begin and end at once.
spi_trace -f work -o many ./work 1 80 >out
is $? 0 "80 children: they end as they should" || diag "$(tail -n 5 trace.err)"
spi_read many
is "$(grep -c ' spi:work_entry' many.txt)" 81 "80 children: each call is there"
is "$(grep ' spi:work_entry' many.txt | grep -o 'vpid = [0-9]*' | sort -u | wc -l)" 81 "80 children: of each process"
is "$(comm -13 <(dumped many.txt) <(grep ' spi:work_entry' many.txt | grep -o 'vpid = [0-9]*' | cut -d ' ' -f 3 | sort -u) | wc -l)" 0 \
	"80 children: each has its state dump"
for pid in "$former" "$native"; do
	is "$(vpids many.txt | grep -cx "$pid")" 0 "80 children: and nobody else"
done

exec {former_in}>&- {other_in}>&-
wait "$former" "$other"
is $? 0 "the others were left as they were" || diag "$(cat other.err)"
spi_read other
is "$(vpids other.txt)/$(dumped other.txt)" "$(dumped other.txt)/$(vpids other.txt)" "the run beside it has its own, too"
kill "$native" 2>/dev/null
tap_done
