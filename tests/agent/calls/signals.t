#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Traced functions called by signal handlers that interrupt traced functions:
# a storm of timer signals, and handlers on an alternate stack that leave by
# siglongjmp.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/zoo.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c

zoo_check 'alternate stack' 't_*' ./zoo altstack 400

ZOO_COUNTS=$SPI_TMP/counts spi_trace_ok "timer storm" -f 't_*' -o storm ./zoo signals 2000
is "$(cat trace.out)" "handled enough: 1, all right: 1" "timer storm: values"
spi_read storm
lost=$(events lost storm.warn)
is "$lost" 0 "timer storm: nothing lost"
# A handler that interrupts the tracer itself may go unrecorded, never half recorded.
check "timer storm: exits close their entries" events balance storm.txt --lossy
recorded=$(spi_count storm t_leaf_entry)
called=$(awk '/t_leaf/ { print $3 }' counts)
diag "timer storm: $recorded of $called calls of t_leaf recorded"
[ "$((called - recorded))" -le "$((called / 100))" ] && [ "$recorded" -le "$called" ]
ok $? "timer storm: at least 99 in 100 calls recorded"
tap_done
