#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 240
#
# An injected thread goes on with every register as it was (general, vector,
# x87, control words, red zone), its errno, its signal mask, actions and
# alternate stack; also on stacks that have no room for a library call; and its
# own faults reach their handlers, where they were.
. "${SPI_TOP_SRCDIR:?}/tests/lib/injector.sh"
grep -qw avx2 /proc/cpuinfo || skip_all "needs a processor with AVX2"
spi_private "$@"
prepare
count=20
[ -z "${SPI_SOAK:-}" ] || count=500

for mode in compute coroutine small-stack handler deep signals signals-i signals-b timer faults; do
	start "$mode"
	failed=0
	for i in $(seq "$count"); do
		cp libmark.so "libmark$i.so"
		"$inject" pid "$target" "$SPI_TMP/libmark$i.so" >inject.out 2>inject.err ||
			{ failed=$((failed + 1)); diag "$(cat inject.err)"; }
		cat inject.out >>"stops.$mode"
	done
	is "$failed" 0 "$mode: $count injections"
	# Is it the thread that computes which is stopped?
	main=$(grep -c "thread $target stopped" "stops.$mode")
	[ "$mode" != small-stack ] || main=$((count - main))
	[ $((main * 2)) -gt "$count" ]
	ok $? "$mode: in the thread that computes ($main)"
	finish
	ok $? "$mode: the program ends well"
	is "$(tail -n 1 target.out)" "$mode: ok" "$mode: nothing has changed"
done
tap_done
