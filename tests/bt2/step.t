#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# A signal at each single instruction of stubs, thunks, slots and payload, with a
# handler that is traced: not one record is lost or doubled, nothing crosses.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
spi_daemon
export LTTNG_SPI_TEST_STEPS=1	# steps in the tracer's code are not kept from the program
spi_cc step "$SPI_TOP_SRCDIR/tests/programs/step.c"
way() {
	local name=$1 rule=$2 n=$3 m=$4 out calls
	CHANNEL='--subbuf-size=4M --num-subbuf=8' record "$name" "$rule" ./step "$((SPI_SOAK ? n * 20 : n))" "$((SPI_SOAK ? m * 20 : m))"
	is $? 0 "$name: the program ends as it should"
	expand "$name"
	read -r _ calls <"$name.out"
	out=$(python3 "$compare" balance "$name.expanded")
	is "$out" "entries $calls exits $calls crossed 0 open 0 backward 0" "$name: every call has its entry and its exit"
	is "$(cat "$name.warn")" "" "$name: nothing is missing"
	[ "$(awk '{ print $1 }' "$name.err")" -gt 1000 ]
	ok $? "$name: the handler did come" || diag "$(cat "$name.err")"
}
# There each instruction is one more of the event module's: hundreds of thousands of signals. While they come, the upper half of
# the clock's ticks changes some times, and buffers begin anew.
way entries 'call(step:t_*;compact)' 2 1000
way tree 'tree(t_main;compact;lib=step;exclude=stepped;exclude=find)' 2 1200
tap_done
