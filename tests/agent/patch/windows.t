#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 150
# soak-timeout: 3600
#
# Jumps in place of one instruction, also with prefixes, put in place and taken
# back while four threads run through them, with a storm of signals that interrupts and goes back to any of
# these instructions: every value stays right, and off, the code is the file's. At
# each alignment, in a program that lies anywhere and in one at a fixed address;
# with each of these workers alone, and with all of them. What was recorded is exact where
# the tree stays on.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc windows-pie windows.c -O2 -fpie -pie
tree_cc windows-fixed windows.c -O2 -fno-pie -no-pie
times=8
[ -z "${SPI_SOAK:-}" ] || times=1500
# 96 functions, each with one such call: 6 kinds at 16 places
for program in pie fixed; do
	for workers in call+block call+block+trap; do
		TREE_ENV="LTTNG_SPI_TEST_WORKER=$workers" tree_record "$PWD/exact" 'tree(main;lib=windows-*)' "./windows-$program" 2 0 150 >out 2>&1
		is "$?,$(tail -n 1 out)" "0,wrong 0" "$program, $workers: every value is right"
		tree_balanced "$PWD/exact" "$program, $workers: balanced" --counts counts
		# as many as there were, where nothing is left out: 2 threads x 150 rounds x 16 places
		for callee in w_three:4800 w_two:4800 w_one:19200; do
			at=$(nm "windows-$program" | awk -v f="${callee%:*}" '$3 == f { print $1 }')
			base=$(readelf -lW "windows-$program" | awk '$1 == "LOAD" { print $3; exit }')
			calls=$(awk -F '\t' -v f="$(printf '/windows-%s+0x%x' "$program" $((0x$at - base)))" 'index($2 "\n", f "\n") { print $1 }' counts)
			case $workers in
			*trap*) is "$calls" "${callee#*:}" "$program, $workers: each call of ${callee%:*}" ;;
			*) [ "${calls:-0}" -le "${callee#*:}" ]; ok $? "$program, $workers: no call of ${callee%:*} too many" ;;
			esac
		done
	done
done

ask() { echo "$*" >&"$to"; read -r -t 60 -u "$from" answer; }
number() { ask status; awk -v name="$1" '{ for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) }' <<<"$answer"; }
more_than() { [ "$(number entries)" -gt "$1" ]; }
text() { python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target" >text.out; }

# toggled PROGRAM WORKERS STORM-US
toggled() {
	local name="$1, $2, storm $3" bad=0 differs=0 silent=0 before
	{	# recorded, and written nowhere: it is about the code
		lttng create tree --snapshot && lttng enable-channel -u c --subbuf-size 64K --num-subbuf 4 &&
		lttng enable-event -u -c c 'lttng_ust_cyg_profile:*' && lttng start
	} >"$SPI_TMP/session.log" 2>&1 || { fail "$name: a session"; return; }
	coproc CONTROL { LTTNG_SPI_TEST_WORKER=$2 LTTNG_SPI_DEBUG=$SPI_TMP/tree.debug \
		python3 "$SPI_TOP_SRCDIR/tests/lib/controller.py" "./windows-$1" 4 "$3" 2>control.err; }
	exec {to}>&"${CONTROL[1]}" {from}<&"${CONTROL[0]}"
	: >"$SPI_TMP/tree.debug"
	ask pid; target=$answer
	ask go
	spi_wait 10 file_has target.out ready
	# the rounds of the threads are the roots: what they call is recorded by its sites
	ask add 1 'tree(w_round;lib=windows-*)'
	[[ $answer == 'rule 1 0'* ]]
	ok $? "$name: a tree" || diag "$answer $(cat control.err)"
	for i in $(seq "$times"); do
		before=$(number entries)
		spi_wait 10 more_than "$before" || silent=$((silent + 1))
		ask disable 1; [[ $answer == 'rule 1 0'* ]] || bad=$((bad + 1))
		text || { differs=$((differs + 1)); cp text.out first.out; }
		ask enable 1; [[ $answer == 'rule 1 0'* ]] || bad=$((bad + 1))
		kill -0 "$target" 2>/dev/null || { diag "dead in round $i: $answer"; break; }
	done
	is "$bad $silent" "0 0" "$name: $times times off and on, calls are recorded each time"
	is "$differs" 0 "$name: off, the code is the file's" || diag "$(head -n 5 first.out)"
	ask remove 1
	ask detach
	ask end
	is "$answer" "ended 0" "$name: the program ends as ever"
	is "$(tail -n 1 target.out)" "wrong 0" "$name: every value was right"
	tree_session_end
	# where the program hangs, the controller has given up
	local pid=${CONTROL_PID:-}
	eval "exec $to>&- $from<&-${pid:+ ${CONTROL[1]}>&- ${CONTROL[0]}<&-}"
	[ -z "$pid" ] || wait "$pid"
}
for program in pie fixed; do
	toggled "$program" call+block 0
	toggled "$program" call+block 100
	toggled "$program" call+block+trap 100
done
tap_done
