#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Calls within calls: recursion 50 000 deep, callbacks from a library that is
# not traced, mutual tail calls, calls left by longjmp() and then those that they
# were made in, and coroutines whose calls end in another order
# than they began.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/zoo.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c

zoo_check 'recursion 50 000 deep' 't_recurse' ./zoo recurse 50000
zoo_check 'qsort callbacks' 't_compare' ./zoo qsort 3000

# Tail calls replace each other on one stack position: all are entered, and all are left.
spi_trace_ok "mutual tail calls" -f t_even -f t_odd -o tail ./zoo tail 5000
is "$(grep -a '^even' trace.out)" "even 1" "tail calls: value"
check "tail calls: entries and exits" counted tail trace.out

# longjmp() itself is not traced here: what it left is seen by where the next call is.
spi_cc ways "$SPI_TOP_SRCDIR/tests/programs/ways.c" -O0
./ways nested >plain
spi_trace -f inner_jump -f outer_jump -f note -o left ./ways nested >trace.out
is "$?" 3 "left one after the other: status"
same_file trace.out plain "left one after the other: output"
balanced left "left one after the other: entries and exits nest"
deepest=$(awk '/_entry: /  { if (++depth > most) most = depth } /_exit: / { depth-- } END { print most + 0 }' left.txt)
[ "$deepest" -gt 6 ] && [ "$deepest" -lt 14 ]
ok $? "left one after the other: exits come before the next call" || diag "$deepest deep"

# One thread, four stacks: a stack of calls for each, so only the totals can be compared.
./zoo coroutines 200 >plain
spi_trace_ok "coroutines" -f t_yield -f t_leaf -o co ./zoo coroutines 200
same_file trace.out plain "coroutines: output"
check "coroutines: entries and exits" counted co plain
tap_done
