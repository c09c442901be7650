#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# All of a channel is switched off before the broker has heard that one of its call trees was made: calls of the other one that
# are under way have their exits.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree.sh"
spi_private "$@"
tree_tools
spi_cc long "$SPI_PROGRAMS/under-way.c" -Wl,--no-as-needed -llttng-ust
broker_daemon
background ./long 20000
more_calls() { [ "$(wc -l <target.out)" -gt "$((lines + 2))" ]; }
is_active() { status_like "^applied.$target.*active"; }
for i in 1 2 3 4 5; do
	lttng_ok create s --output="$SPI_TMP/t$i"
	lttng_ok enable-channel -u -s s c
	lttng_ok add-context -u -s s -c c -t vpid -t vtid -t ip
	lttng_ok enable-event -u -s s -c c 'lttng_ust_statedump:*'
	lttng_ok start s
	"$SPI_LTTNG" enable-event --spi --tree=u_outer -s s -c c >on.log 2>&1 || diag "$(cat on.log)"
	spi_wait 10 is_active || fail "the tree is in force"
	lines=$(wc -l <target.out)
	spi_wait 10 more_calls
	mapfile -t helpers < <(pgrep -P "$(pgrep -x spi-broker | head -n 1)")
	kill -STOP "${helpers[@]}"	# who asks the daemon: until the broker starts another, in 3 s
	lttng_ok enable-event -u -s s -c c 'spi:tree(u_inner)'
	lttng_ok disable-event -u -a -s s -c c
	kill -CONT "${helpers[@]}" 2>/dev/null
	lttng_ok destroy s
	tree_balanced "t$i" "$i: each call has its exit"
done
finish "$target"
is $? 0 "the program ends as ever"
tap_done
