#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# liblttng-ust-fork.so holds lttng-ust's locks from before a fork() until after it: nothing that waits for one of them is
# waited for within it. A child's fork() returns at once, for a function's rule, for a tree and for a compact one.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup
spi_cc forks "$SPI_PROGRAMS/child-calls.c" -O2 -Wl,--no-as-needed -llttng-ust

for rule in "-f in_child" "--tree=in_child" "--tree=main --compact"; do
	read -ra options <<<"$rule"
	rm -rf t
	lttng_ok create f --output="$SPI_TMP/t"
	lttng_ok enable-channel -u -s f c
	lttng_ok add-context -u -s f -c c -t vpid -t vtid -t ip
	"$SPI_LTTNG" enable-event --spi "${options[@]}" -s f -c c >on.log 2>&1 || diag "$(cat on.log)"
	lttng_ok start f
	begin=$EPOCHREALTIME
	env LD_PRELOAD=liblttng-ust-fork.so ./forks
	is $? 0 "$rule: the program ends as ever"
	took=$(((${EPOCHREALTIME/./} - ${begin/./}) / 1000))
	# 60 children; one that is held up takes 100 or 1500 ms
	spi_soon "$took" 5000 "$rule: no child is held up in fork()"
	lttng_ok destroy f
	babeltrace2 "$SPI_TMP/t" >t.txt
	[ "$(grep -c -e in_child_entry -e 'func_entry' -e 'calls:' t.txt)" -ge 60 ]
	ok $? "$rule: and all are recorded" || diag "$(wc -l <t.txt)"
done
tap_done
