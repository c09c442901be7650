#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# timeout: 120
# soak-timeout: 900
#
# Every entry has its exit, whoever ends the process or executes another program, in
# threads that wait and in threads that call all the time meanwhile.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc last ends-in-calls.c -O1 -fno-optimize-sibling-calls
tree_cc fault fault.c -O1 -fno-optimize-sibling-calls
tree_cc uncaught uncaught.cc -O1 -fno-optimize-sibling-calls
times=1
[ -z "${SPI_SOAK:-}" ] || times=15

# ended NAME HOW THREADS - status and output as without a tracer; nothing open in any thread
ended() {
	local name=$1 plain traced
	shift
	"./last" "$@" >plain.out 2>&1
	plain=$?
	tree_record "$PWD/t" "$RULE" ./last "$@" >traced.out 2>&1
	traced=$?
	is "$traced" "$plain" "$name: status"
	same_file traced.out plain.out "$name: output"
	tree_balanced "$PWD/t" "$name: every entry has its exit, in its thread" --sequence t.seq
	is "$(grep -c '^thread' t.seq)" "$THREADS" "$name: so many threads"
}

for kind in plain compact; do
	RULE='tree(main;lib=last;follow=threads)'
	if [ "$kind" = compact ]; then
		tree_compact
		RULE='tree(main;lib=last;follow=threads;compact)'
	fi
	for round in $(seq "$times"); do
		for how in exit _exit syscall quick_exit return exec late; do
			THREADS=5 ended "$kind, $how" "$how" 4
		done
		THREADS=6 ended "$kind, exit() in another thread" thread 4
	done
	for how in "" handled trap divide; do
		calls=78
		[ -z "$how" ] || calls=79		# the handler, or what ends it, too
		may_die ./fault $how >plain.out
		plain=$?
		may_die tree_record "$PWD/t" "${RULE/lib=last/lib=fault}" ./fault $how >traced.out
		is $? "$plain" "$kind, a fault${how:+ that is $how}: status"
		same_file traced.out plain.out "$kind, a fault${how:+ that is $how}: output"
		"$SPI_TMP/calls" --open 10 ${TREE_COMPACT:+--expand "$SPI_EXPAND"} "$PWD/t" >sum 2>problems
		like "$(cat sum)" "entries $calls " "$kind, a fault${how:+ that is $how}: all calls that led to it are there"
	done
	may_die ./uncaught >plain.out 2>plain.err
	plain=$?
	may_die tree_record "$PWD/t" "${RULE/lib=last/lib=uncaught}" ./uncaught >traced.out 2>traced.err
	is $? "$plain" "$kind, an exception that nobody catches: status"
	check "$kind, an exception that nobody catches: what is said" file_has traced.err "$(head -n 1 plain.err)"
	"$SPI_TMP/calls" --open 10 ${TREE_COMPACT:+--expand "$SPI_EXPAND"} "$PWD/t" >sum 2>problems
	like "$(cat sum)" "entries 7 " "$kind, an exception that nobody catches: all calls that led to it are there"
done
tap_done
