#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# soak-timeout: 900
#
# Programs start while a client gives one command after the other, each of which
# has the broker ask for the rules anew: whatever comes between the steps by which
# a program is instrumented, it is recorded from main()'s first call on. That takes
# longest, and most comes between, where the agent's thread is the last to run: the
# programs share one processor with others that have much to do. One that could not
# be instrumented in time is told of.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
spi_app
spi_cc ask-on "$SPI_PROGRAMS/ask-on.c" -llttng-ctl
spi_sessiond
# That alone should not be a reason to begin too early: where all are so slow, the daemon needs seconds for them.
export LTTNG_UST_REGISTER_TIMEOUT=-1
rounds=${SPI_SOAK:+20} programs=${SPI_SOAK:+300}
rounds=${rounds:-1} programs=${programs:-60}
# how many the broker has named, or counted, as begun too early
missed() { spi_status | sed -n 's/^note\t\([0-9]*\) programs* began before.*/\1/p'; }
# Those that are told of may be so a little after their end.
all_accounted() {
	late=$(missed)
	[ $((recorded + ${late:-0} - before)) -ge "$programs" ]
}

before=0
for ((round = 1; round <= rounds; round++)); do
	quiet lttng create "s$round" -o "$PWD/s$round"
	quiet lttng enable-event -u -s "s$round" 'spi:app_first_entry'
	quiet lttng start "s$round"
	rm -f over
	./ask-on "$PWD/over" >asked &
	asks=$!
	for ((i = 0; i < 24; i++)); do
		taskset -c 0 sh -c 'until [ -e over ]; do :; done' &
	done
	spi_wait 10 file_has asked begun
	for ((i = 0; i < programs; i++)); do
		taskset -c 0 ./app 1 >"out.$i" &
	done
	while [ "$(jobs -rp | wc -l)" -gt 25 ]; do
		wait -n
	done
	touch over
	wait "$asks"
	is "$?" 0 "the client's commands were answered"
	wait
	quiet lttng destroy "s$round"
	is "$(cat out.* | grep -c '^sum 43')" "$programs" "$programs programs ran while there were commands: their output"
	recorded=$(spi_count "s$round" app_first_entry)
	spi_wait 10 all_accounted
	ok $? "each recorded from its first call on, or told of" || diag "$(spi_status | grep -P '^(note|process)' | tail -n 5)"
	diag "round $round: $recorded recorded, $((${late:-0} - before)) told of, $(tail -n 1 asked) commands," \
		"load $(cut -d' ' -f1 /proc/loadavg)"
	before=${late:-0}
	rm -rf "s$round" "s$round.txt" out.*
done
is "$(spi_status | grep -c 'traces it already')" 0 "none was instrumented twice"
tap_done
