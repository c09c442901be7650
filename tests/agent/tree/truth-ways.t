#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# Calls that do not return, and calls that nobody made: longjmp(), exit(), signal
# handlers, fork(). The entries are those of -finstrument-functions; exits, which
# that does not always have, balance.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc ways-truth ways.c -O0 -finstrument-functions
tree_cc ways ways.c -O0
for mode in longjmp nested own exit signals; do	# functions of the program that have no source here
	TREE_OBJECTS="-atexit -own_longjmp" tree_is_truth "$mode" entries ways "$mode"
done
# Children are processes of their own where lttng-ust is told of them.
SPI_CYG="$SPI_CYG /usr/lib/x86_64-linux-gnu/liblttng-ust-fork.so.1" tree_is_truth fork entries ways fork
# Coroutines leave and enter each other's calls: nesting is no notion for these.
./ways contexts >plain.out
tree_record "$SPI_TMP/contexts" "${TREE_RULE:-tree(main)}" ./ways contexts >traced.out
is "$?" 5 "contexts: status"
same_file traced.out plain.out "contexts: output"
for mode in _exit abort; do
	{ ./ways "$mode" >plain.out 2>&1; } 2>/dev/null
	plain=$?
	tree_record "$SPI_TMP/$mode" "${TREE_RULE:-tree(main)}" ./ways "$mode" >traced.out 2>&1
	is "$?" "$plain" "$mode: status"
	if [ "$mode" = _exit ]; then
		tree_balanced "$SPI_TMP/$mode" "$mode: balanced"
	else	# nobody is asked when a signal ends a process
		tree_balanced "$SPI_TMP/$mode" "$mode: nothing but calls that were open" --open 99
	fi
done
tree_record "$SPI_TMP/storm" "${TREE_RULE:-tree(main)}" ./ways storm 500 >traced.out
is "$?" 9 "20 000 signals a second: status"
tree_balanced "$SPI_TMP/storm" "20 000 signals a second: balanced"
tap_done
