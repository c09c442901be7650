#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# timeout: 60
#
# Rounds of calls in 4 threads of each process, before a session is started, while that is done, while it is stopped
# and while it is started again: each thread's rounds are whole, from the first one that begins while the session is
# started, and none is recorded but then. Plain records, then compact ones, in the process that has had the plain
# ones' tree and in one that has not.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree.sh"
spi_private "$@"
tree_tools
tree_cc asked asked.c -O1 -fno-optimize-sibling-calls
broker_daemon

fds=() outs=() pids=()
begin() {
	app_start "$1" ./asked 4
	fds+=("$app_in") outs+=("$1.out") pids+=("$app_pid")
}
# rounds N - in each thread of each process
rounds() {
	local i
	for i in "${!fds[@]}"; do
		app_call "${fds[i]}" "$1" "${outs[i]}" || fail "a round is over"
	done
}
# say WORD ANSWER - to each process
say() {
	local i
	for i in "${!fds[@]}"; do
		echo "$1" >&"${fds[i]}"
		spi_wait 10 eval "[ \"\$(tail -n 1 ${outs[i]})\" = $2 ]" || fail "$1: $2"
	done
}
# start - with rounds on their way
start() {
	say go going
	lttng_ok start s
	say halt over
}
on() { lttng_spi_ok enable-event; }
off() { lttng_spi_ok disable-event; }
lttng_spi_ok() {
	"$SPI_LTTNG" "$1" --spi --tree=s_round --lib asked --exec asked $compact -s s -c calls >rule.log 2>&1 ||
		{ fail "$1"; diag "$(cat rule.log)"; }
}
active() { [ "$(status applied | grep -Ec 'tree.s_round.*active')" = "${#pids[@]}" ]; }
idle() { [ "$(status process | grep -c idle)" = "${#pids[@]}" ]; }

# whole SEQUENCE LEAST THREADS - that many threads, each with that many rounds or some more, and nothing else. What a round
# calls after the session's start may stand there without it: such a round was under way.
whole() {
	nm asked | awk -v least="$2" -v threads="$3" '
		function thread_over(n, under_way) {
			n = gsub(/>s_round>s_left>s_leaf<<>s_right<</, "R", text)
			under_way = text ~ /^(>s_left>s_leaf<<|>s_leaf<)?(>s_right<)?R+(>s_left>s_leaf<<|>s_leaf<)?(>s_right<)?R+$/
			if (seen && (!under_way || n < least)) { print "thread " seen ": " n " rounds, " text; bad = 1 }
			text = ""
		}
		NR == FNR { sub(/^0+/, "", $1); name["0x" $1] = $3; next }
		/^thread/ { thread_over(); seen++; next }
		/^</ { text = text "<"; next }
		{ split($2, place, "+"); text = text ">" name[place[2]] }
		END { thread_over(); print seen + 0 " threads"; exit bad || seen != threads }' - "$1"
}

begin former
for compact in "" --compact; do
	[ -z "$compact" ] || begin fresh
	kind=${compact:+compact}
	kind=${kind:-plain}
	lttng_ok create s --output="$SPI_TMP/$kind"
	lttng_ok enable-channel -u -s s calls --subbuf-size 1M --num-subbuf 4
	lttng_ok add-context -u -s s -c calls -t vpid -t vtid -t ip
	on
	spi_wait 20 active || fail "$kind: the rule is in force before the session is started"
	start
	rounds 4
	lttng_ok stop s
	rounds 3
	start
	rounds 4
	off
	spi_wait 20 idle || fail "$kind: the rule goes"
	lttng_ok destroy s
	[ -z "$compact" ] || TREE_COMPACT=1
	tree_balanced "$SPI_TMP/$kind" "$kind: balanced" --sequence "$kind.seq"
	out=$(whole "$kind.seq" 8 $((4 * ${#pids[@]})))
	ok $? "$kind: the rounds of the started session, each of them whole" || diag "$out"
done
for fd in "${fds[@]}"; do
	exec {fd}>&-
done
for i in "${!pids[@]}"; do
	wait "${pids[i]}"
	is $? 3 "${outs[i]%.out}: ends as ever"
done
tap_done
