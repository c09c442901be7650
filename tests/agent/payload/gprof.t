#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `--payload gprof` counts what -pg counts, of programs that are built without it: the same arcs with the same numbers.
# gprof reads the files. The names of the files never collide.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
gmon() { python3 "$SPI_TOP_SRCDIR/tests/lib/gmon.py" "$@"; }

# Both builds have the same functions.
functions_of() { nm "$1" | awk '$2 ~ /[tTwW]/ { print $3 }' | grep -v '^__gmon_start__$\|^_*mcount\|^etext$\|^_start$' | sort -u; }

# profiled NAME ARGUMENTS SOURCE [OPTION...] - arcs of the build with -pg and of the one without are the same
profiled() {
	local name=$1 arguments=$2 source=$3
	shift 3
	spi_cc with "$source" "$@" -pg
	spi_cc without "$source" "$@"
	same_file <(functions_of with) <(functions_of without) "$name: both builds have the same functions"
	rm -f gmon.out
	# shellcheck disable=SC2086
	./with $arguments >with.out
	mv gmon.out with.gmon
	# shellcheck disable=SC2086
	spi_trace --payload gprof ./without $arguments >without.out
	is $? 0 "$name: status" || diag "$(cat trace.err)"
	same_file without.out with.out "$name: output"
	gmon arcs with with.gmon >with.arcs
	gmon arcs without gmon.out >without.arcs
	same_file without.arcs with.arcs "$name: the same arcs, $(wc -l <with.arcs) of them"
	same_file <(gprof -b -q ./without gmon.out | grep -o '[0-9]*/.*\|index.*' | sed 's/ *\[[0-9]*\]//' | sort) \
		<(gprof -b -q ./with with.gmon | grep -o '[0-9]*/.*\|index.*' | sed 's/ *\[[0-9]*\]//' | sort) "$name: gprof reads the same"
}
profiled 'C at -O2, with tail calls' 13 profiled.c
profiled 'C at -O0' 13 profiled.c -O0
profiled 'C, position-dependent, -O1' 22 profiled.c -O1 -no-pie
profiled 'C++' 40 profiled.cc
profiled 'functions in a library that is linked in' 9 profiled-library.c -DPROGRAM "$SPI_PROGRAMS/payload-none.c"
tap_done
