#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# Functions that are entered otherwise than by a call: before main() and after it, by libc, by makecontext(), by
# jumps and returns of assembly, through code on the stack. They, and what they call, are in the tree of the whole
# program as often as the program says itself, built with -finstrument-functions.
. "${SPI_TOP_SRCDIR:?}/tests/lib/follow.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc entered entered.c -O1 -w
tree_cc told entered.c -O1 -w -finstrument-functions

# without -finstrument-functions: assembly, what every program has of libc's; and what cannot be recorded itself
untold='jump_in|push_ret|switch_stack|atexit|at_quick_exit|pthread_atfork|jumped_to'

# named PROGRAM - of lines `COUNT ADDRESS` its functions' names, sorted
named() {
	awk 'NR == FNR { sub(/^0+/, "", $1); name[$1] = $3; next } $2 in name { n[name[$2]] += $1 }
		END { for (i in n) print n[i], i }' <(nm "$1") - | grep -vwE "$untold" | LC_ALL=C sort -k 2
}

# At some addresses no jump fits a function, which ./traced.err names: the others of these lines
fitting() {
	local unfit
	unfit=$(grep -A 1 'only a breakpoint (int3) fits' traced.err | grep -o '[a-z_]*+0x0' | paste -sd '|')
	unfit=${unfit//+0x0/}
	grep -vwE "${unfit:-^$}"
}

# traced NAME ARGUMENT OPTIONS... - compared with what `told` says, but for what has to be said as well as left out
traced() {
	local name=$1 argument=$2 line
	shift 2
	./told ${argument:+"$argument"} 2>&1 >/dev/null | awk '{ print 1, $2 }' | named told >told.names
	rm -rf t
	./entered ${argument:+"$argument"} >plain.out
	"$SPI_LTTNG" trace --tree "$@" -o t ./entered ${argument:+"$argument"} >traced.out 2>traced.err </dev/null
	is "$?" 0 "$name: status" || diag "$(tail -n 5 traced.err)"
	same_file traced.out plain.out "$name: output"
	[[ " $* " != *" --compact "* ]] || TREE_COMPACT=1
	"$SPI_TMP/calls" ${TREE_COMPACT:+--expand "$SPI_EXPAND"} --counts t.counts t >calls.out 2>/dev/null
	TREE_COMPACT=
	line=$(cat calls.out)		# calls of coroutines cross
	[[ $line =~ ^entries\ ([0-9]+)\ exits\ ([0-9]+)\ orphans\ 0\ .*\ open\ 0\ .*\ lost\ 0$ ]] && [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
	ok $? "$name: an exit for each entry" || diag "$line"
	awk -F '\t' '/\/entered\+0x/ { sub(/.*\+0x/, "", $2); print $1, $2 }' t.counts | named entered >traced.names
	fitting <told.names >fits.names
	mv fits.names told.names
	same_file traced.names told.names "$name: the functions that were entered, and how often" ||
		diag "$(diff told.names traced.names)"
	summary 'no call from a loaded file enters it: only what it calls is recorded' "$name: what cannot be recorded is said"
}
traced "main() returns" ""
traced "main() returns, compact" "" --compact
traced "the program alone" "" --lib entered
traced "exit()" exit
traced "quick_exit()" quick

# Of a tree that begins with a function, only what is entered below it.
rm -rf t
"$SPI_LTTNG" trace --tree=by_context -o t ./entered >traced.out 2>traced.err </dev/null
"$SPI_TMP/calls" --counts t.counts t >calls.out 2>/dev/null
awk -F '\t' '/\/entered\+0x/ { sub(/.*\+0x/, "", $2); print $1, $2 }' t.counts | named entered >traced.names
is "$(cat traced.names)" "$(printf '%s\n' '1 by_context' '1 context' '1 leaf_argument' '3 leaf_context' '1 with_arguments' | fitting)" \
	"a root: what is entered below it"
tap_done
