#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 180
# Rules come and go while eight programs are at work: all follow, none is hurt.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup
cat >busy.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t stop;
static void end(int signal) { stop = 1; }
__attribute__((noipa)) int add(int a, int b) { return a + b; }
__attribute__((noipa)) int work(int n) { return add(n, 1); }
int main(void)
{
	int n = 0, wrong = 0;

	signal(SIGTERM, end);
	puts("ready");
	fflush(stdout);
	while (!stop) {
		for (int i = 0; i < 100; i++, n++)
			wrong += work(n) != n + 1;
		usleep(1000);
	}
	return wrong != 0;
}
C
spi_cc busy "$PWD/busy.c" -Wl,--no-as-needed -llttng-ust
pids=()
for i in 1 2 3 4 5 6 7 8; do
	./busy >"out.$i" &
	pids+=($!)
	spi_wait 10 file_has "out.$i" ready
done
count() { status 2>/dev/null | grep -Ec "$1"; }
all_active() { [ "$(count "^applied.*	$1	active	1	1	0")" = 8 ]; }
all_idle() { [ "$(count '^process.*	0	idle')" = 8 ]; }
rounds=${SPI_SOAK:+40} rounds=${rounds:-6}

lttng_ok create s --output="$SPI_TMP/s"
lttng_ok enable-channel -u -s s c --subbuf-size=1M --num-subbuf=8
lttng_ok enable-event -u -s s -c c 'spi:nothing_here_entry'
lttng_ok start s
bad=0 slowest=0
for ((i = 0; i < rounds; i++)); do
	began=${EPOCHREALTIME/./}
	lttng_ok enable-event -u -s s -c c 'spi:work_entry'
	spi_wait 10 all_active work || bad=$((bad + 1))
	took=$((${EPOCHREALTIME/./} - began))
	[ "$i" = 0 ] || [ "$took" -le "$slowest" ] || slowest=$took
	lttng_ok enable-event -u -s s -c c 'spi:add_*'
	spi_wait 10 all_active 'add(_\*)?' || :
	lttng_ok disable-event -u -s s -c c 'spi:work_entry'
	lttng_ok disable-event -u -s s -c c 'spi:add_*'
	spi_wait 10 eval '! status | grep -Eq "^applied.*	(work|add|add_[*])	active"' || bad=$((bad + 1))
done
is "$bad" 0 "each change reaches all eight"
spi_soon "$((slowest / 1000))" 1000 "within a second, once the agents are inside"
lttng_ok destroy s
check "nothing is left of them" spi_wait 10 all_idle
wrong=0
for pid in "${pids[@]}"; do
	python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$pid" >/dev/null 2>&1 || wrong=$((wrong + 1))
done
is "$wrong" 0 "their code is what it was"
failed=0
for pid in "${pids[@]}"; do kill "$pid"; wait "$pid" || failed=$((failed + 1)); done
is "$failed" 0 "none of them computed anything wrong"
spi_read "$SPI_TMP/s"
like "$(wc -l <"$SPI_TMP/s.txt")" '^[1-9]' "and their calls were recorded"
tap_done
