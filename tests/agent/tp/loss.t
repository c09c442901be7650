#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Buffers of two pages: most calls are lost. What is recorded balances all the
# same, thread by thread, and the counters say exactly what the trace shows.
. "$SPI_TOP_SRCDIR/tests/lib/tp.sh"
spi_private "$@"
tp_program loss
spi_daemon

for threads in 1 4; do
	CHANNEL='--subbuf-size=4096 --num-subbuf=2' session tiny 'spi:*'
	out=$(./loss $threads 60 14) || fail "loss runs"
	read -r entries exits lost_entries lost_exits owed <<<"$out"
	trace=$(events tiny)
	diag "$threads threads: $entries entries, $exits exits, $lost_entries lost, $lost_exits exits lost, $owed exits made up for"
	work=$(count "$trace" spi:work_entry) task=$(count "$trace" spi:task)
	read -r balanced_entries balanced_exits _ open <<<"$(balance "$trace")"
	is "$((work + task))" "$entries" "$threads threads: entries in the trace as counted"
	is "$balanced_exits" "$exits" "$threads threads: every exit has its entry, in order; as many as counted"
	is "$open" "$lost_exits" "$threads threads: entries without exit are those counted as lost"
	[ "$lost_entries" -gt 1000 ] && [ "$owed" -gt 0 ]
	ok $? "$threads threads: there was loss, and exits were owed"
	is "$balanced_entries" "$work" "$threads threads: all entries looked at"
	discarded=0
	while read -r n; do		# the counter may go back between packets, and bit 63 be set: the sum counts, without it
		discarded=$(((discarded + n) & 0x7fffffffffffffff))
	done < <(sed -n 's/.*discarded \([0-9]*\) event.*/\1/p' tiny.bt2)
	[ "$lost_entries" -le "$discarded" ]
	ok $? "$threads threads: LTTng discarded a record for each call lost: $lost_entries of $discarded"
	[ "$lost_exits" -le $((threads * 15)) ]
	ok $? "$threads threads: no exits lost but what the threads owed when they ended"
done

CHANNEL='--subbuf-size=4096 --num-subbuf=2' session tiny 'spi:*'
session large 'spi:work_*'
out=$(./loss 1 30 12) || fail "loss runs"
read -r entries exits lost_entries lost_exits owed <<<"$out"
tiny=$(events tiny) large=$(events large)
read -r e1 x1 _ o1 <<<"$(balance "$tiny")"
read -r e2 x2 _ o2 <<<"$(balance "$large")"
is "$((x1 + x2))" "$exits" "two sessions, one full: exits as counted"
is "$x2 $o2" "$e2 0" "the one with room has every exit"
is "$((o1))" "$lost_exits" "the full one misses what is counted"
[ "$e2" -gt "$e1" ]
ok $? "the full one takes nothing from the other"
tap_done
