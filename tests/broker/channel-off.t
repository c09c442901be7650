#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng disable-channel`, and enable-channel again: what its rules asked for is taken out of the program, with the exits of calls that
# are under way, and comes in again.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree.sh"
spi_private "$@"
tree_tools
spi_cc long "$SPI_PROGRAMS/under-way.c" -Wl,--no-as-needed -llttng-ust
broker_daemon
background ./long 20000
more_calls() { [ "$(wc -l <target.out)" -gt "$((lines + 3))" ]; }
some_calls() {
	lines=$(wc -l <target.out)
	spi_wait 10 more_calls
}
is_active() { status_like "^applied.$target.*active"; }
is_out() { status_unlike "^applied.$target.*active" && python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target" >/dev/null 2>&1; }
for rule in "-f u_outer" "-f u_*" "--tree=u_outer" "--tree=u_inner --compact"; do
	read -ra words <<<"$rule"
	rm -rf t t.txt
	lttng_ok create s --output="$SPI_TMP/t"
	lttng_ok enable-channel -u -s s c
	lttng_ok add-context -u -s s -c c -t vpid -t vtid -t ip
	lttng_ok enable-event -u -s s -c c 'lttng_ust_statedump:*'
	lttng_ok start s
	"$SPI_LTTNG" enable-event --spi "${words[@]}" -s s -c c >on.log 2>&1 || diag "$(cat on.log)"
	spi_wait 10 is_active || fail "$rule: it is in force"
	for _ in 1 2 3; do
		some_calls
		lttng_ok disable-channel -u -s s c
		check "$rule: off: the text is what it was" spi_wait 10 is_out
		lttng_ok enable-channel -u -s s c
		check "$rule: on again" spi_wait 10 is_active
	done
	some_calls
	lttng_ok disable-channel -u -s s c
	lttng_ok destroy s
	if [ "${words[0]}" = -f ]; then
		spi_read t
		events balance t.txt >balance.out 2>&1
		ok $? "$rule: each call has its exit" || diag "$(cat balance.out)"
		[ "$(spi_count t u_outer_entry)" -ge 12 ]
	else
		TREE_COMPACT=1 tree_balanced t "$rule: each call has its exit"
		[ "$("$SPI_TMP/calls" --expand "$SPI_EXPAND" t 2>/dev/null | awk '{ print $2 }')" -ge 12 ]
	fi
	ok $? "$rule: calls are recorded each time"
done
finish "$target"
is $? 0 "the program ends as ever"
tap_done
