#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Unwinding through some hundred traced calls: what a program gets of backtrace() and _Unwind_Backtrace() is what it gets
# without being traced, to the byte, and from a signal handler main() is found wherever the signal came. (A debugger: gdb.t.)
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc unwind unwind.c -O2 -fno-optimize-sibling-calls -rdynamic
for mode in backtrace lists unwind info signal; do
	./unwind "$mode" >plain
	tree_record "$SPI_TMP/trace-$mode" "${TREE_RULE:-tree(main)}" ./unwind "$mode" >traced
	is "$?" 0 "$mode: status"
	same_file traced plain "$mode: the functions it meets, and where"
	tree_balanced "$SPI_TMP/trace-$mode" "$mode: balanced"
done

tap_done
