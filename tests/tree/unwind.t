#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Unwinding through some hundred traced calls: backtrace() and _Unwind_Backtrace()
# meet the same functions at the same return addresses as without, and from a
# signal handler main() is found wherever the signal came. (A debugger: gdb.t.)
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc unwind unwind.c -O2 -fno-optimize-sibling-calls -rdynamic
for mode in backtrace unwind signal; do
	./unwind "$mode" >plain
	tree_record "$SPI_TMP/trace-$mode" "${TREE_RULE:-tree(main)}" ./unwind "$mode" liblttng-spi >traced
	is "$?" 0 "$mode: status"
	# Behind a slot, whose frame unwinders take for a signal's, an address is the call's last byte: one less.
	paste -d+ plain traced | awk -F+ 'NF == 4 && $1 == $3 && $2 - $4 <= 1 && $4 <= $2 { next } NF == 2 && $1 == $2 { next } { print }' >differs
	is "$(cat differs)" "" "$mode: the functions it meets, and where"
	tree_balanced "$SPI_TMP/trace-$mode" "$mode: balanced"
done

tap_done
