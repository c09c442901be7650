#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
# timeout: 120
#
# Two sessions have rules for a function, and one of them is switched off while a call of it is under way, as ever: the
# call has its exit in both, and the other session has all calls that come after. So it is with the rule of a session that is alone,
# and with calls that take longer than anybody waits: these have their exits when the rule goes.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
spi_cc long "$SPI_PROGRAMS/under-way.c"
spi_cc long-ust "$SPI_PROGRAMS/under-way.c" -Wl,--no-as-needed -llttng-ust
broker_daemon

more_calls() { [ "$(wc -l <target.out)" -gt "$((lines + more))" ]; }
calls_go_on() {
	lines=$(wc -l <target.out)
	spi_wait 20 more_calls
}
rules_active() { [ "$(status | grep -Ec "^applied.$target.*active")" -ge "$1" ]; }

session() {
	rm -rf "$1" "$1.txt"
	lttng_ok create "$1" --output="$SPI_TMP/$1"
	lttng_ok enable-channel -u -s "$1" c
	lttng_ok add-context -u -s "$1" -c c -t vpid -t vtid
	lttng_ok start "$1"
}
rule() {
	local name=$1 what=$2
	shift 2
	"$SPI_LTTNG" "$what" --spi "${functions[@]}" "$@" -s "$name" -c c >rule.log 2>&1 || diag "$(cat rule.log)"
}
is_balanced() { events balance "$1.txt" >balance.out 2>&1 || lost+=" $1: $(cat balance.out)"; }

# last_entry TRACE - the time of the last u_outer_entry in it
last_entry() { grep -a ':u_outer_entry:' "$1.txt" | tail -n 1 | grep -oE '^\[[0-9:.]+\]'; }

# once SCOPE OTHER ACTIVE - the words of the rule that goes, and of the other session's (`none`: there is none)
once() {
	local -a mine other
	read -ra mine <<<"$1"
	read -ra other <<<"$2"
	session one
	rule one enable-event "${mine[@]}"
	if [ "$2" != none ]; then
		session two
		rule two enable-event "${other[@]}"
	fi
	spi_wait 10 rules_active "$3" || fail "the rules are in force"
	calls_go_on
	rule one disable-event "${mine[@]}"
	lttng_ok destroy one
	spi_read one
	is_balanced one
	[ "$(spi_count one u_outer_entry)" -ge 1 ] || lost+=" one: no calls"
	[ "$2" = none ] && return
	calls_go_on
	rule two disable-event "${other[@]}"
	lttng_ok destroy two
	spi_read two
	is_balanced two
	[[ $(last_entry two) > $(last_entry one) ]] || lost+=" two: none after"
}

# rounds NAME SCOPE OTHER ACTIVE - ACTIVE: how many rules a process then has
rounds() {
	lost=
	for ((round = 0; round < (SPI_SOAK ? 12 : 1); round++)); do once "$2" "$3" "$4"; done
	is "$lost" "" "$program, $half us, ${functions[*]}, $1: each call has its exit"
}

for half in 15000 250000; do
	more=$((half < 100000 ? 3 : 0))
	for program in long long-ust; do
		background "./$program" "$half"
		spi_wait 10 file_has target.out again
		if [ "$program" = long ]; then
			functions=(-f u_outer)
			rounds "alone" "--exec long" none 1
			rounds "the same rule" "--exec long" "--exec long" 1
			rounds "another scope" "--exec long" "--pid $target" 2
			functions=("-f" "u_*")
			rounds "another scope" "--pid $target" "--exec long" 2
		else
			functions=(-f u_outer)		# a rule goes after the other: the outer call's exit would be the earlier one
			[ "$half" -gt 100000 ] || functions+=(-f u_inner)
			rounds "alone" "" none $((${#functions[@]} / 2))
			rounds "the same rules" "" "" $((${#functions[@]} / 2))
			functions=(-f "u_*")
			rounds "alone" "" none 1
			rounds "the same rules" "" "" 1
		fi
		finish "$target"
		is $? 0 "$program: its status"
	done
done
tap_done
