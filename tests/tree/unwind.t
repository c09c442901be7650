#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Unwinding through some hundred traced calls: backtrace(), _Unwind_Backtrace()
# and a debugger meet the same functions at the same return addresses as without,
# and from a signal handler main() is found wherever the signal came.
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

# gdb: the functions in its backtrace, and five times `finish`.
cat >script <<'G'
set pagination off
set breakpoint pending on
set debuginfod enabled off
set startup-with-shell off
break bottom
run
bt
finish
finish
finish
finish
finish
continue
G
tree_session "$SPI_TMP/trace-gdb"
timeout 60 gdb -q -batch -ex "set environment LD_PRELOAD $SPI_AGENT" -ex "set environment LTTNG_SPI_RULES tree(main)" \
	-ex "set environment LTTNG_SPI_CODEMAP $SPI_CODEMAP" -x script --args ./unwind none >gdb.out 2>&1
tree_session_end
timeout 60 gdb -q -batch -x script --args ./unwind none >gdb.plain 2>&1
frames() { grep -v /slots.S: "$1" | sed -n 's/^#[0-9]* .*\(\<[a-z_]*\) (.*at .*\/\([a-z.]*:[0-9]*\)$/\1 \2/p'; }
frames gdb.plain >plain
frames gdb.out >traced
[ "$(grep -c ^down traced)" -gt 150 ]
ok $? "gdb: bt goes through the traced calls"
same_file traced plain "gdb: the frames of bt are those without tracing"
like "$(cat gdb.out)" 'exited normally' "gdb: the program ends after five times finish"
unlike "$(cat gdb.out)" 'SIG(SEGV|ILL|BUS|ABRT)' "gdb: no crash"
tap_done
