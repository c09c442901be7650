#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 300
#
# Handlers that unwind the stack through what they interrupted while a record of it is being made: by pthread_exit(), at a
# cancellation point, by an exception, which another handler may take; and threads that are cancelled, but not by what
# lttng-ust calls (its write() where a sub-buffer ends, so these are small). Every record is complete, each entry has its
# exit, none is lost, and LTTng can read what the threads left; the stack is unwound as in the untraced program. By
# trees, compact ones, rules for functions, in programs started so and attached to.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc unwinds unwinds.cc -O1
times=40
[ -z "${SPI_SOAK:-}" ] || times=400

# traced NAME MODE OPTION... - 'lttng trace OPTION...' of it, its output, and that nothing is lost
traced() {
	local name=$1 mode=$2
	shift 2
	rm -rf "$SPI_TMP/t"
	timeout -k 5 $((100 * SPI_PATIENCE)) "$SPI_LTTNG" trace "$@" --subbuf-size 128K --num-subbuf 512 -o "$SPI_TMP/t" ./unwinds "$mode" "$times" >traced.out 2>traced.err
	is "$?" 0 "$name: status" || diag "$(tail -3 traced.err)"
	is "$(cat traced.out)" "$(cat plain.out)" "$name: unwound as in the untraced program"
	like "$(grep '^Events recorded' traced.err)" '; lost: 0$' "$name: nothing is lost, or cannot be read"
}

for mode in exit stack point due throw nested; do
	[ $mode != nested ] || times=$((times / 4))	# one in each of the clock's ticks
	timeout 60 ./unwinds "$mode" "$times" >plain.out
	traced "$mode, tree" "$mode" --tree
	tree_balanced "$SPI_TMP/t" "$mode, tree: balanced"
	traced "$mode, compact" "$mode" --tree --compact
	TREE_COMPACT=1 tree_balanced "$SPI_TMP/t" "$mode, compact: balanced"
	traced "$mode, functions" "$mode" -f leaf -f busy
	tree_as_many "$mode, functions" "$SPI_TMP/t"
done

# Attached to, a program that goes on for as long as it takes.
rm -rf "$SPI_TMP/t"
./unwinds throw 400000000 >/dev/null &
target=$!
spi_wait 10 grep -q unwinds /proc/$target/comm
timeout -k 5 $((60 * SPI_PATIENCE)) "$SPI_LTTNG" -q trace --tree=busy --subbuf-size 1M --num-subbuf 32 --duration 1 -p $target -o "$SPI_TMP/t" 2>traced.err
is "$?" 0 'attached: status' || diag "$(tail -3 traced.err)"
kill -0 $target
ok $? 'attached: the program goes on'
kill $target
wait $target 2>/dev/null
tree_balanced "$SPI_TMP/t" 'attached: balanced'
tap_done
