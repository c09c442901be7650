#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng-spi export --callgrind`: calls, by function and by arc, are those that callgrind itself counts of the same
# program, as callgrind_annotate reads both. Recursion, pointers, threads, longjmp(), exit() within calls, C++ exceptions.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi=$SPI_TOP_BUILDDIR/reader/lttng-spi
for level in 0 2; do
	spi_cc "viewed$level" viewed.c "-O$level"
	spi_cc "objects$level" viewed.cc "-O$level"
done
spi_cc shop exported.cc

# same OPTION PROGRAM ARGUMENT - OPTION: of the trace
same() {
	local option=$1 file
	shift
	rm -rf trace ours theirs
	# shellcheck disable=SC2086
	spi_trace --tree=main --lib "$1" $option -o trace "./$1" "$2" >/dev/null
	"$spi" export --callgrind -o ours trace
	# what the dynamic linker does at first calls is no call of the program's
	LD_BIND_NOW=1 valgrind --tool=callgrind --callgrind-out-file=theirs "./$1" "$2" >/dev/null 2>valgrind.err
	for file in ours theirs; do
		callgrind_annotate --auto=no --tree=both --inclusive=yes --threshold=100 "$file" >"$file.txt" 2>annotate.err
	done
	check "$1 $2 $option: the same calls" python3 "$SPI_TOP_SRCDIR/tests/lib/export.py" arcs "$1" ours.txt theirs.txt ||
		diag "$(tail -n 3 trace.err valgrind.err)"
}

same "" viewed2 recursion
same --compact viewed0 pointers
same --compact viewed2 threads
same "" viewed2 jumps
same --compact viewed2 quits
same "" objects2 exceptions
same --compact objects0 objects
same --compact shop 20
tap_done
