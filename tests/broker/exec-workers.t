#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng trace --exec NAME --duration` with the plugin: the time counts from when all that ran at the start are recorded, with
# all FUNCs. A FUNC and a process that were never recorded are in the summary, with the reason; nothing instrumented at all is
# a status.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
spi_sessiond
{
	echo '#include <stdio.h>'
	echo '#include <time.h>'
	for i in 1 2 3 4 5 6; do echo "__attribute__((noipa)) int job_$i(int a) { return a + $i; }"; done
	echo 'int main(void) { puts("ready"); fflush(stdout); for (;;) { struct timespec t = { 0, 1000000 };'
	for i in 1 2 3 4 5 6; do echo "job_$i(1);"; done
	echo 'nanosleep(&t, 0); } }'
} >crew.c
spi_cc crew "$PWD/crew.c" -Wl,--no-as-needed -lstdc++ -lm
mkdir static && spi_cc static/crew "$PWD/crew.c" -static
crew=()
for i in 1 2 3 4; do
	background ./crew
	crew+=("$target")
done
background static/crew
static=$target
funcs=()
for i in 1 2 3 4 5 6; do funcs+=(-f "job_$i"); done

spi_trace_ok "six FUNCs, four processes, a moment" "${funcs[@]}" --exec crew --duration 0.1 -o t
spi_read t
is "$(grep -ao 'spi:job_[0-9]_entry: .*vpid = [0-9]*' t.txt | sed 's/_entry.*vpid = / /' | sort -u | wc -l)" 24 "all of them in all"
like "$(cat trace.err)" "Processes not recorded: 1.*  crew \($static\): .*static" "one that cannot be: named, with the reason"

spi_trace_ok "a FUNC that none has" -f job_1 -f no_job --exec crew --duration 0.1 -o u
like "$(cat trace.err)" 'Functions instrumented at the end: 4; not instrumented: 1|Functions instrumented: 4; not instrumented: 1' "counted"
like "$(cat u/not-instrumented.txt)" $'^crew:no_job\tno loaded function matches' "and named, with the reason"
spi_trace -f no_job --exec crew --duration 0.1 -o v
is $? 1 "that one alone: status"
like "$(cat trace.err)" 'Processes not recorded: 5.*Error: nothing was instrumented' "which is said"
spi_trace -f job_1 --exec nobody --duration 0.1 -o w
is $? 1 "a program that is not there: status"
like "$(cat w/not-instrumented.txt)" $'^nobody:job_1\tno process of that name' "said"
for pid in "${crew[@]}" "$static"; do finish "$pid" 2>/dev/null; done
tap_done
