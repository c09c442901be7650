#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# Compact records, expanded by filter.lttng-spi.expand: the calls, their nesting
# and their call sites are those of -finstrument-functions, as with plain events;
# all kinds of calls, exceptions, threads and their ends, longjmp(), exit(),
# handlers, a library that comes and goes.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_compact
tree_cc kinds-truth kinds.c -O0 -finstrument-functions
tree_cc kinds kinds.c -O2 -fno-inline
tree_is_truth "all kinds of calls" nesting kinds
tree_cc throws-truth throws.cc -O0 -finstrument-functions
tree_cc throws throws.cc -O0
# What was thrown is destroyed by libgcc, which is left out by default.
TREE_OBJECTS=-_ZN6BrokenD2Ev tree_is_truth "exceptions in four threads" nesting throws 5 4
tree_cc threads-truth threads.c -O0 -fexceptions -finstrument-functions
tree_cc threads threads.c -O0 -fexceptions
tree_is_truth "threads that create threads" nesting threads tree 4
tree_is_truth "ends of threads" nesting threads ends 5
tree_cc ways-truth ways.c -O0 -finstrument-functions
tree_cc ways ways.c -O0
for mode in longjmp exit signals; do
	TREE_OBJECTS=-atexit tree_is_truth "$mode" entries ways "$mode"
done
tree_record "$SPI_TMP/storm" "$TREE_RULE" ./ways storm 500 >traced.out
is "$?" 9 "20 000 signals a second: status"
tree_balanced "$SPI_TMP/storm" "20 000 signals a second: balanced"
tap_done
