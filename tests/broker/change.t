#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# timeout: 150
# soak-timeout: 1200
#
# Rules changed while 2 processes with 2 threads each (8 with 4 in the long form) call all the time: off, on, another depth,
# another exclusion, the next rule before the former one goes, plain and compact. In force within a second; nothing lost,
# nothing unbalanced; every round of calls is whole but for those that a change fell into; the code
# is the file's at the end.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree.sh"
spi_private "$@"
tree_tools
tree_cc busy busy.c -O1 -fno-optimize-sibling-calls
broker_daemon
processes=2 threads=2 times=1
[ -z "${SPI_SOAK:-}" ] || processes=8 threads=4 times=20

pids=()
for i in $(seq "$processes"); do
	./busy "$threads" >"busy.$i" 2>&1 &
	pids+=($!)
done
for i in $(seq "$processes"); do
	spi_wait 20 file_has "busy.$i" ready
done

now() { echo $((${EPOCHREALTIME/./} / 1000)); }
slowest=0
# change WHAT CONDITION COMMAND... - how long until it is in force in all processes
change() {
	local what=$1 condition=$2 begun took
	shift 2
	begun=$(now)
	"$@" >change.log 2>&1 || diag "$what: $(cat change.log)"
	spi_wait 20 "$condition" || { fail "$what: in force"; diag "$(status applied | head -n 3)"; return; }
	took=$(($(now) - begun))
	[ "$took" -le "$slowest" ] || slowest=$took
	timed+=" $what:$took"
	changes=$((changes + 1))
}
active() { [ "$(status applied | grep -Ec -- "$pattern.*active")" = "$processes" ]; }
alone() { active && [ "$(status applied | grep -c active)" = "$processes" ]; }
idle() { [ "$(status process | grep -c idle)" = "$processes" ]; }
# on OPTIONS..., off OPTIONS... - the rule with these options
on() { "$SPI_LTTNG" enable-event --spi --tree=t_round --lib busy --exec busy $compact "$@" -s s -c calls; }
off() { "$SPI_LTTNG" disable-event --spi --tree=t_round --lib busy --exec busy $compact "$@" -s s -c calls; }
calls_made() { status counts | awk -F'\t' '{ n += $3 } END { print n + 0 }'; }
more() { [ "$(calls_made)" -gt $((made + 4000)) ]; }
record_some() { made=$(calls_made); spi_wait 20 more; }
text_is_the_files() {
	local pid
	for pid in "${pids[@]}"; do
		python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$pid" >text.out || return 1
	done
}

for compact in "" --compact; do
	changes=0 timed='' slowest=0
	lttng_ok create s --output="$SPI_TMP/s$compact"
	lttng_ok enable-channel -u -s s calls --subbuf-size 4M --num-subbuf 4
	lttng_ok add-context -u -s s -c calls -t vpid -t vtid -t ip
	on >change.log 2>&1	# so that the first state dump is recorded
	lttng_ok start s
	pattern='tree.t_round;lib=busy'
	spi_wait 20 active
	change off idle off
	for round in $(seq "$times"); do
		pattern='tree.t_round;lib=busy'
		change on active on
		record_some
		change off idle off
		text_is_the_files || { fail "off: the code is the file's"; diag "$(head -n 3 text.out)"; }
		change on active on
		record_some
		pattern='depth=2'		# the next rule comes before this one goes
		change another active on --depth 2
		change depth alone off
		record_some
		pattern='exclude=t_branch'
		change another active on --exclude t_branch
		change exclusion alone off --depth 2
		record_some
		change off idle off --exclude t_branch
	done
	kind=${compact:+compact}
	spi_soon "$slowest" 1000 "${kind:-plain}: every change is in force within a second" || diag "$timed"
	check "${kind:-plain}: the code is the file's at the end" text_is_the_files || diag "$(head -n 3 text.out)"
	lttng_ok destroy s
	[ -z "$compact" ] || TREE_COMPACT=1
	tree_balanced "$SPI_TMP/s$compact" "${kind:-plain}: nothing lost, nothing unbalanced" --sequence "$SPI_TMP/seq$compact"
	diag "ms:$timed"
	out=$(python3 "$SPI_TOP_SRCDIR/tests/lib/rounds.py" ./busy "seq$compact" "$changes" full depth2 nobranch)
	ok $? "${kind:-plain}: every round is whole but where a rule went" || diag "$out"
	diag "$out"
done
kill "${pids[@]}"
wrong=0
for i in $(seq "$processes"); do
	wait "${pids[i - 1]}"
	[ "$? $(tail -n 1 "busy.$i")" = "3 wrong 0" ] || wrong=$((wrong + 1))
done
is "$wrong" 0 "every process ends as ever, with the right values"
tap_done
