#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A signal comes anywhere: in the program, in stubs, thunks and slots, in the event module and in LTTng. The backtrace of
# what its handler calls leads through all of these to the outermost function.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
cat >signals.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile int signals;
__attribute__((noipa)) int hit(int n) { __asm__(""); return n + 1; }
__attribute__((noipa)) int work(int n) { __asm__(""); return n * 3; }
static void on_signal(int number) { hit(signals++ + number); }
int main(void)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };

	signal(SIGPROF, on_signal);
	setitimer(ITIMER_PROF, &often, NULL);
	for (int i = 0; signals < 100; i++)
		work(i);
	return 0;
}
C
spi_cc signals signals.c
spi_trace_ok "recorded" -f work -f hit --backtrace=64 --subbuf-size 8M --num-subbuf 8 -o d ./signals
babeltrace2 d 2>/dev/null | grep ' spi:hit_entry' >hits
is "$(grep -c . hits)" 100 "each handler's call is recorded"
grep -o 'backtrace_end = ( "[a-z]*"' hits | sort | uniq -c >ends
least=$(awk '/complete/ { print ($1 >= 98) }' ends)
is "$least" 1 "its backtrace is complete" || diag "$(cat ends)"
python3 - <<'PY' >deep
import re
calls = [re.findall(r'\] = (0x\w+)', line) for line in open('hits', encoding='utf-8')]
outermost = max(set(c[-1] for c in calls), key=[c[-1] for c in calls].count)
print(sum(c[-1] == outermost for c in calls) >= 98, max(map(len, calls)) > 8)
PY
is "$(cat deep)" "True True" "and ends where all others do, however deep the tracer was in" || diag "$(awk '{ print length }' hits | sort -n | uniq -c)"
tap_done
