#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `--payload gprof` counts what -pg counts, of programs that are built without it: the same arcs with the same numbers.
# gprof reads the files. The names of the files never collide.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
gmon() { python3 "$SPI_TOP_SRCDIR/tests/lib/gmon.py" "$@"; }

# The functions of a build, without what start files and libc's static part bring along.
functions_of() {
	nm "$1" | awk '$2 ~ /[tTwW]/ { print $3 }' |
		grep -vE '^(__gmon_start__|_*mcount|etext|atexit|_dl_relocate_static_pie|__stack_chk_fail_local)$' | sort -u
}

# called PROGRAM FILE - what gprof says of calls, without the numbers that it gives to functions, and without times
called() {
	gprof -b -q "$1" "$2" | grep '[0-9]/[0-9]\|+' | sed 's/<cycle [0-9]*>//; s/ *\[[0-9]*\]//g; s/[0-9]*\.[0-9]*//g; s/^ *//' | sort -u	# how often a line stands there depends on times
}

# profiled NAME ARGUMENTS SOURCE [OPTION...] - arcs of the build with -pg and of the one without are the same
profiled() {
	local name=$1 arguments=$2 source=$3
	shift 3
	spi_cc with "$source" "$@" -pg
	spi_cc without "$source" "$@"
	functions_of with >with.names
	functions_of without >without.names
	same_file without.names with.names "$name: both builds have the same functions"
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
	called ./without gmon.out >without.called
	called ./with with.gmon >with.called
	same_file without.called with.called "$name: gprof reads the same"
}
profiled 'C at -O2, with tail calls' 13 profiled.c
profiled 'C at -O0' 13 profiled.c -O0
profiled 'C, position-dependent, -O1' 22 profiled.c -O1 -no-pie
profiled 'C++' 40 profiled.cc
profiled 'C++ at -O0' 31 profiled.cc -O0

# ---- a library: its own file, in its own addresses ----
spi_cc libinner.so profiled-library.c -shared -fPIC
spi_cc uses profiled-library.c -DPROGRAM -L. -linner -Wl,-rpath,"$PWD"
spi_trace --payload gprof=libinner.so ./uses 9 >/dev/null
is "$(gmon arcs libinner.so libinner.so.gmon.out)" "$(printf '%s\n' 'library_sum inner 16' 'library_sum middle 36' 'middle inner 40')" 'a library: the calls in it' ||
	diag "$(cat trace.err)"
is "$(gmon outside libinner.so libinner.so.gmon.out)" 'library_sum 9' 'a library: the calls into it'
is "$(gmon arcs uses gmon.out)" 'main outer 9' 'a library: the executable has a file of its own'
like "$(gprof -b -q libinner.so libinner.so.gmon.out)" '36 +middle' 'a library: gprof reads it'
# ---- a call tree, and a payload that is preloaded ----
gprof_arcs() { gmon arcs uses gmon.out; rm -f gmon.out; }
spi_trace --tree=outer --payload gprof ./uses 9 >/dev/null
is "$(gprof_arcs)" 'main outer 9' 'a call tree: the executable alone' || diag "$(cat trace.err)"
spi_trace --tree --payload gprof='libin*' ./uses 9 >/dev/null
is "$(gmon arcs libinner.so libinner.so.gmon.out | tail -n 1)" 'middle inner 40' 'a call tree: and a library' || diag "$(cat trace.err)"
is "$(gprof_arcs)" 'main outer 9' 'a call tree: both'
LD_PRELOAD=$SPI_TOP_BUILDDIR/payloads/.libs/gprof.so ./uses 9 >/dev/null 2>preload.err
is "$(gprof_arcs)" 'main outer 9' 'preloaded by itself: below main()' || diag "$(cat preload.err)"

# ---- a stripped copy, with its debug file ----
spi_cc whole profiled.c
cp whole stripped
objcopy --only-keep-debug whole stripped.debug
strip stripped
objcopy --add-gnu-debuglink=stripped.debug stripped
spi_trace --payload gprof ./whole 13 >/dev/null
gmon arcs whole gmon.out >whole.arcs
spi_trace --payload gprof ./stripped 13 >/dev/null
gmon arcs whole gmon.out >stripped.arcs
same_file stripped.arcs whole.arcs 'a stripped copy with its debug file: the same arcs'
like "$(gprof -b -p stripped.debug gmon.out)" ' fibonacci' 'a stripped copy: gprof reads it with the debug file'

# ---- little stack ----
spi_cc little profiled-stacks.c
spi_cc little-pg profiled-stacks.c -pg
./little-pg >/dev/null
gmon arcs little-pg gmon.out >little-pg.arcs
spi_trace --payload gprof ./little >/dev/null
gmon arcs little gmon.out >little.arcs
same_file little.arcs little-pg.arcs 'threads and handlers with little stack: the same arcs' || diag "$(cat trace.err)"
tap_done
