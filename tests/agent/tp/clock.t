#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The time stamps are CLOCK_MONOTONIC to within 200 ns, never ahead of it and
# never going back.
. "$SPI_TOP_SRCDIR/tests/lib/tp.sh"
spi_private "$@"
tp_program clock -llttng-ust -llttng-ust-common
source=$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)
if [ "$(./clock 1 1)" = 'no clock' ]; then
	[ "$source" != tsc ] || fail "the clock source is the TSC, which is used"
	skip_all "the kernel's clock is not the TSC: $source"
fi
for threads in 1 4; do
	out=$(./clock $threads 2000000) || fail "clock runs"
	diag "$threads threads: $out"
	like "$out" '^ahead -?[0-9]+ behind -?[0-9]+ backwards 0' "$threads threads: never back"
	read -r _ ahead _ behind _ _ _ ahead2 _ behind2 _ handled <<<"${out//$'\n'/ }"
	[ "$ahead" -le 0 ] && [ "$ahead2" -le 0 ]
	ok $? "$threads threads: never ahead"
	[ "$behind" -le 200 ] && [ "$behind2" -le 200 ]
	ok $? "$threads threads: 200 ns behind at most"
	[ "$handled" -gt 100 ]
	ok $? "$threads threads: with a signal handler in between"
done
tap_done
