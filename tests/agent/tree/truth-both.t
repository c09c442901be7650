#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 120
#
# A tree with plain and one with compact records of the same program at the same
# time: what is in each session are the calls that -finstrument-functions records.
# All kinds of calls, exceptions, threads and their ends, longjmp(), exit(),
# handlers, coroutines; either of the two first.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools

# both_record RULES COMMAND...
both_record() {
	local rules=$1 status
	shift
	both_sessions
	LTTNG_UST_ALLOW_BLOCKING=1 LTTNG_SPI_CODEMAP="$SPI_CODEMAP" LTTNG_SPI_RULES="$rules" LTTNG_SPI_DEBUG="$SPI_TMP/tree.debug" \
		LD_PRELOAD="$SPI_AGENT" "$@"
	status=$?
	both_sessions_end
	return "$status"
}
# both_is_truth NAME MODE PROGRAM [ARG...] - as tree_is_truth, by $rules
both_is_truth() {
	local name=$1 mode=$2 program=$3 plain kind
	shift 3
	"./$program" "$@" >plain.out 2>&1 </dev/null
	plain=$?
	truth_record "$SPI_TMP/truth" "./$program-truth" "$@" >truth.out 2>&1 </dev/null
	"$SPI_TMP/calls" --open 999999999 --sequence truth.seq "$SPI_TMP/truth" >/dev/null 2>&1
	both_record "$rules" "./$program" "$@" >traced.out 2>&1 </dev/null
	is "$?" "$plain" "$name: status"
	same_file traced.out plain.out "$name: output"
	both_balanced "$name"
	for kind in plain compact; do
		check "$name: $kind: the truth" python3 "$SPI_TOP_SRCDIR/tests/lib/truth.py" "$mode" truth.seq "$kind.seq" "$program-truth=$program" ${TREE_OBJECTS:-}
	done
}
tree_cc kinds-truth kinds.c -O0 -finstrument-functions
tree_cc kinds kinds.c -O2 -fno-inline
rules='tree(main);tree(main;compact)' both_is_truth "all kinds of calls" nesting kinds
rules='tree(main;compact);tree(main)' both_is_truth "all kinds of calls, compact first" nesting kinds
tree_cc throws-truth throws.cc -O0 -finstrument-functions
tree_cc throws throws.cc -O0
TREE_OBJECTS=-_ZN6BrokenD2Ev rules='tree(main);tree(main;compact)' both_is_truth "exceptions in four threads" nesting throws 5 4
tree_cc threads-truth threads.c -O0 -fexceptions -finstrument-functions
tree_cc threads threads.c -O0 -fexceptions
rules='tree(main;compact);tree(main)' both_is_truth "threads that create threads" nesting threads tree 4
rules='tree(main);tree(main;compact)' both_is_truth "ends of threads" nesting threads ends 5
tree_cc ways-truth ways.c -O0 -finstrument-functions
tree_cc ways ways.c -O0
for mode in longjmp exit signals; do
	TREE_OBJECTS=-atexit rules='tree(main;compact);tree(main)' both_is_truth "$mode" entries ways "$mode"
done
# coroutines leave and enter each other's calls; the end of the process finds calls open
for mode in contexts _exit; do
	./ways "$mode" >plain.out
	plain=$?
	both_record 'tree(main);tree(main;compact)' ./ways "$mode" >traced.out
	is "$?" "$plain" "$mode: status"
	same_file traced.out plain.out "$mode: output"
	[ "$mode" != _exit ] || both_balanced "$mode"
done
both_record 'tree(main);tree(main;compact)' ./ways storm 500 >traced.out
is "$?" 9 "20 000 signals a second: status"
both_balanced "20 000 signals a second"
tap_done
