#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 300
# long
#
# Two sessions of a stock client have the same functions, each by one name for entries and exits, and that of one is
# switched off while busy processes call them all the time, and fork. Calls under way then lose their exits in that one:
# each entry has its exit, or the exit is counted as lost.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
spi_cc kept "$SPI_PROGRAMS/kept.c" -Wl,--no-as-needed -llttng-ust
broker_daemon

session() {
	rm -rf "$1" "$1.txt"
	lttng_ok create "$1" --output="$SPI_TMP/$1"
	lttng_ok enable-channel -u -s "$1" c --subbuf-size=1M --num-subbuf=8
	lttng_ok add-context -u -s "$1" -c c -t vpid -t vtid
	lttng_ok enable-event -u -s "$1" -c c "$2"
	lttng_ok start "$1"
}
all_active() { [ "$(status | grep -Ec '^applied.*w_.*active')" -ge "${#targets[@]}" ]; }
grows() { [ "$(du -s "$SPI_TMP/$1" | cut -f 1)" -gt "$size" ]; }
calls_go_on() {
	size=$(($(du -s "$SPI_TMP/$1" | cut -f 1) + 100))
	spi_wait 20 grows "$1"
}
missed() { for target in "${targets[@]}"; do status counts "$target"; done | awk '{ n += $6 } END { print n + 0 }'; }
# Those of a child that ended are in its own counts.
has_no_other_open() { events balance "$1.txt" --open "$(($(missed) - missed_before + (${#how} ? 8 : 0)))" >balance.out 2>&1; }
# is_balanced SESSION - but for exits that are counted as lost
is_balanced() {
	lttng_ok destroy "$1"
	for target in "${targets[@]}"; do kill -STOP "$target"; done	# the reader is to have a processor
	spi_read "$1"
	for target in "${targets[@]}"; do kill -CONT "$target"; done
	spi_wait 5 has_no_other_open "$1" || wrong+=" $1: $(cat balance.out)"
	missed_before=$(missed)
	[ "$(spi_count "$1" w_top_entry)" -gt 20 ] || wrong+=" $1: few calls"
}

for how in "" fork; do
	targets=()
	for ((i = 0; i < (SPI_SOAK ? $(nproc) : 1); i++)); do
		./kept $how &
		targets+=($!)
	done
	missed_before=0
	for names in "spi:w_* spi:w_*" "spi:* spi:w_*" "spi:w_t* spi:w_*"; do
		wrong=
		for ((round = 0; round < (SPI_SOAK ? 20 : 1); round++)); do
			session other "${names#* }"
			session one "${names% *}"
			spi_wait 20 all_active || wrong+=" not in force"
			calls_go_on other
			lttng_ok disable-event -u -s one -c c "${names% *}"
			calls_go_on other
			is_balanced one
			lttng_ok disable-event -u -s other -c c "${names#* }"
			is_balanced other
		done
		is "$wrong" "" "${how:-no fork}, $names: each entry has its exit"
	done
	for target in "${targets[@]}"; do kill "$target"; done
	wrong=
	for target in "${targets[@]}"; do wait "$target" || wrong+=" $?"; done
	is "$wrong" "" "${how:-no fork}: the programs' statuses"
done
tap_done
