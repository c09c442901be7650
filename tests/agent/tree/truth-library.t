#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A library that calls back and through its own PLT, linked, and loaded and
# unloaded three times. Where it was, the trace says itself (lttng_ust_lib:load);
# lttng-ust's own dlopen(), which does so otherwise, is the tracer's: what it calls, a
# constructor, is no part of the tree then.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
lib() { gcc -g -O0 -shared -fPIC -Wl,-soname,"$1" -o "$1" "$SPI_PROGRAMS/library.c" "${@:2}"; }
lib library-truth.so -finstrument-functions
lib library.so
tree_cc uses-library-truth uses-library.c -O0 -finstrument-functions -DLINKED ./library-truth.so -Wl,-rpath,"$SPI_TMP"
tree_cc uses-library uses-library.c -O0 -DLINKED ./library.so -Wl,-rpath,"$SPI_TMP"
TREE_OBJECTS='library-truth.so=library.so' tree_is_truth "linked" nesting uses-library

# The library alone: its calls, whoever makes them, and all below them in it; of the program nothing.
tree_record all 'tree(main)' ./uses-library >out 2>&1 </dev/null
tree_record alone 'tree(main;lib=library.so)' ./uses-library >alone.out 2>&1 </dev/null
is $? 2 "the library alone: status"
same_file alone.out out "the library alone: output"
tree_balanced all "a tree of everything" --counts all.counts
tree_balanced alone "the library alone: balanced" --counts alone.counts
library_calls() { sed -nE 's|^([0-9]+)\t.*/(library\.so\+.*)|\2 \1|p' "$1" | sort; }
is "$(library_calls alone.counts)" "$(library_calls all.counts)" "the library alone: as many calls of each function"
is "$(grep -vc library.so alone.counts)" 0 "and of no other object"
check "there are some" test "$(library_calls all.counts | wc -l)" -ge 4

tree_cc uses-library-truth uses-library.c -O0 -finstrument-functions -DLIBRARY='"./library-truth.so"'
tree_cc uses-library uses-library.c -O0 -DLIBRARY='"./library.so"'
dl=/usr/lib/x86_64-linux-gnu/liblttng-ust-dl.so.1
SPI_CYG="$SPI_CYG $dl" TREE_OBJECTS='library-truth.so=library.so -lib_begin' \
	tree_is_truth "loaded" nesting uses-library
SPI_CYG="$SPI_CYG $dl" SPI_AGENT="$SPI_AGENT $dl" TREE_OBJECTS='library-truth.so=library.so -lib_begin' \
	tree_is_truth "loaded by lttng-ust's dlopen()" nesting uses-library
tap_done
