#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A rule for functions is switched off while one of them is within a call, as ever: the call has its exit. With a tag
# (a rule for one program), without, and for several functions.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
spi_cc long "$SPI_PROGRAMS/under-way.c"
spi_cc long-ust "$SPI_PROGRAMS/under-way.c" -Wl,--no-as-needed -llttng-ust
broker_daemon

more_calls() { [ "$(wc -l <target.out)" -gt "$((lines + 3))" ]; }
is_active() { status_like "^applied.$target.*active"; }
for program in long long-ust; do
	scope=(--exec "$program")
	[ "$program" = long ] || scope=()
	background "./$program"
	for functions in "-f u_outer" "-f u_*" "-f u_outer -f u_inner"; do
		read -ra rule <<<"$functions"
		lost=
		for _ in 1 2 3; do
			rm -rf t t.txt
			lttng_ok create s --output="$SPI_TMP/t"
			lttng_ok enable-channel -u -s s c
			lttng_ok add-context -u -s s -c c -t vpid -t vtid
			lttng_ok start s
			"$SPI_LTTNG" enable-event --spi "${rule[@]}" "${scope[@]}" -s s -c c >on.log 2>&1 || diag "$(cat on.log)"
			spi_wait 10 is_active || fail "$program, $functions: it is in force"
			lines=$(wc -l <target.out)
			spi_wait 10 more_calls
			"$SPI_LTTNG" disable-event --spi "${rule[@]}" "${scope[@]}" -s s -c c >off.log 2>&1 || diag "$(cat off.log)"
			lttng_ok destroy s
			spi_read t
			events balance t.txt >balance.out 2>&1 || lost+=" $(cat balance.out)"
		done
		is "$lost" "" "$program, $functions: each call has its exit"
		[ "$(spi_count t u_outer_entry)" -ge 3 ]
		ok $? "$program, $functions: calls are recorded"
	done
	finish "$target"
	is $? 0 "$program: its status"
done
tap_done
