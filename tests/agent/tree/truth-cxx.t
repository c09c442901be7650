#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# C++: exceptions through 50 levels, destructors on the way, virtual calls,
# templates, in one thread and in four: the calls, their nesting and their call
# sites are those of -finstrument-functions, but for the destructor of what was
# thrown: that is called by libgcc's unwinder, which is left out by default.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
TREE_OBJECTS=-_ZN6BrokenD2Ev
tree_cc throws-truth throws.cc -O0 -finstrument-functions
tree_cc throws throws.cc -O0
tree_is_truth "one thread" nesting throws 5 1
tree_is_truth "four threads" nesting throws 5 4
tree_cc throws throws.cc -O0 -no-pie
tree_is_truth "not position-independent" nesting throws 2 2
llvm=$(ls /usr/lib/llvm-*/lib/libunwind.so.1 2>/dev/null | tail -n 1)
if [ -n "$llvm" ]; then
	tree_cc throws throws.cc -O0 "$llvm" -Wl,-rpath,"${llvm%/*}"
	tree_is_truth "LLVM's libunwind" nesting throws 3 2
else
	skip "LLVM's libunwind" "not installed"
fi
tap_done
