#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 240
#
# Programs that are in malloc(), the dynamic loader or pthread_create() nearly
# all the time are injected many times, each time with a library they do not
# have yet, and neither crash nor hang.
. "${SPI_TOP_SRCDIR:?}/tests/lib/injector.sh"
spi_private "$@"
prepare
count=25
[ -z "${SPI_SOAK:-}" ] || count=400
for i in $(seq "$count"); do
	cp libmark.so "libmark$i.so"
done

for mode in malloc threads dlopen pthread_create; do
	: >"$SPI_MARKS"
	start "$mode"
	failed=0
	for i in $(seq "$count"); do
		"$inject" --deadline "$((3000 * SPI_PATIENCE))" pid "$target" "$SPI_TMP/libmark$i.so" >>"stops.$mode" 2>inject.err ||
			{ failed=$((failed + 1)); diag "$(cat inject.err)"; }
	done
	is "$failed" 0 "$mode: $count injections"
	is "$(marks)" "$count" "$mode: every constructor ran, once"
	finish
	ok $? "$mode: the program ends well"
	is "$(tail -n 1 target.out)" "$mode: ok" "$mode: and right"
	diag "$mode: stopped for $(grep -o '[0-9]* us' "stops.$mode" | sort -n | awk '{ a[NR] = $1 } END {
		printf "%d us at least, %d us median, %d us at most", a[1], a[int((NR + 1) / 2)], a[NR] }')"
done
tap_done
