#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# As backtrace.t, with further kinds of stacks: backtraces are those that gdb's bt shows at the same calls, by address,
# of code with frame pointers and without.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
command -v gdb >/dev/null || skip_all "needs gdb"
lib=$SPI_TOP_SRCDIR/tests/lib

# Calls 30 and 32 are on a stack that makecontext() has made. What its first function returns to is libc's: behind that
# gdb and the agent go on by words that are no frames (doc/limits.md).
contexts_cut() { awk '$1 == 30 || $1 == 32 { for (i = 3; i <= NF; i++) if ($i ~ /^libc/) NF = i } 1'; }

# kind NAME OPTION... - a build of the program, what gdb has in NAME.truth, and what the trace has in NAME.seen
kind() {
	local name=$1
	shift
	mkdir "$name"
	spi_cc "$name/libkinds.so" backtrace-kinds.cc -DLIBRARY -shared -fPIC "$@"
	spi_cc "$name/$name" backtrace-kinds.cc -rdynamic -L"$name" -lkinds -Wl,-rpath,"$PWD/$name" "$@"
	BACKTRACE_OUT=$name.truth BACKTRACE_MOST=24 timeout $((30 * SPI_PATIENCE)) gdb -nx -q -batch \
		-x "$lib/backtrace-gdb.py" --args "./$name/$name" >gdb.out 2>&1 </dev/null
	spi_trace -f hit --backtrace=24 -o "$name.d" "./$name/$name" >"$name.out"
	is $? 0 "$name: status" || diag "$(cat trace.err)"
	spi_read "$name.d"
	python3 "$lib/backtrace.py" "$name.d.txt" >"$name.seen"
	is "$(grep -c . "$name.truth")" 35 "$name: gdb's backtraces are there"
	contexts_cut <"$name.seen" >seen
	contexts_cut <"$name.truth" >truth
	same_file seen truth "$name: as gdb's" || diag "$(cat gdb.out)"
	is "$(grep -c ' lost' "$name.seen")" 0 "$name: none is cut off"
	is "$(grep -c ' limit' "$name.seen")" 1 "$name: one is deeper than the limit"
}
kind plain -O2 -fomit-frame-pointer
kind lazy -O2 -fomit-frame-pointer -Wl,-z,lazy
kind pointers -O0 -fno-omit-frame-pointer
kind small -Os -fomit-frame-pointer -fno-optimize-sibling-calls
tap_done
