#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 180
#
# Calls that wait where another one's place says that they are over, and calls that are
# over where nothing says so: coroutines on variables of a function, and handlers that
# leave calls of their own by longjmp(), on the thread's own stack and on another, while a call of what
# they interrupt is being made. Output, status and balance, by trees and by rules for functions.
# (Those that leave what they interrupt: leave.t.)
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc own-stacks own-stacks.c -O1
turns=800 calls=6000
[ -z "${SPI_SOAK:-}" ] || turns=100000 calls=500000

# traced NAME MODE N OPTION... - 'lttng trace OPTION...' of it
traced() {
	local name=$1 mode=$2 n=$3
	shift 3
	rm -rf "$SPI_TMP/t"
	timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" -q trace "$@" --subbuf-size 4M --num-subbuf 8 -o "$SPI_TMP/t" ./own-stacks "$mode" "$n" >traced.out 2>traced.err
	is "$?" 0 "$name: status" || diag "$(tail -3 traced.err)"
	same_file traced.out plain.out "$name: output"
}

for mode in contexts made small handlers alternate; do
	n=$calls
	case $mode in contexts|made|small) n=$turns ;; esac
	./own-stacks "$mode" "$n" >plain.out 2>/dev/null
	traced "$mode, tree" "$mode" "$n" --tree
	if [ "$mode" = made ] || [ "$mode" = small ]; then	# coroutines beside the stack: their calls cross
		line=$("$SPI_TMP/calls" "$SPI_TMP/t" 2>/dev/null)
		[[ $line =~ ^entries\ ([0-9]+)\ exits\ ([0-9]+)\ orphans\ 0\ .*\ open\ 0\ .*\ lost\ 0$ ]] && [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
		ok $? "$mode, tree: as many exits as entries" || diag "$line"
	else
		tree_balanced "$SPI_TMP/t" "$mode, tree: balanced"
	fi
	traced "$mode, compact" "$mode" "$n" --tree --compact
	[ "$mode" = made ] || [ "$mode" = small ] || TREE_COMPACT=1 tree_balanced "$SPI_TMP/t" "$mode, compact: balanced"
	functions=(-f deep -f leaf)
	[ "$mode" != contexts ] || functions=(-f step -f change)
	[ "$mode" != made ] && [ "$mode" != small ] || functions=(-f made_step -f leaf)
	traced "$mode, functions" "$mode" "$n" "${functions[@]}"
	tree_as_many "$mode, functions" "$SPI_TMP/t"
done
traced 'alternate, one function, which handlers leave last' alternate "$calls" -f deep
tree_as_many 'alternate, one function' "$SPI_TMP/t"

tap_done
