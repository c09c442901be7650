#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program's own thread may be named like one of lttng-ust's: its calls are
# recorded, and that it blocks SIGTRAP speaks against int3.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc named thread-name.c -no-pie

spi_trace_ok "a thread named worker-ust" -f t_work -o t ./named
is "$(spi_count t t_work_exit)" 1000 "its calls are recorded"

# The thread's first event would make it known, and take the block away unseen: so there is none.
background ./named block
spi_trace -f t_tiny -p "$target" --duration 0.3 -o b >trace.out
[ $? -ne 0 ]
ok $? "attached to one that blocks SIGTRAP: no int3 where it would kill" || diag "$(cat trace.err)"
like "$(cat trace.err)" 't_tiny' "the function is named"
check "its code and libc's are the files' again" python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target"
finish "$target"
is $? 0 "it lives"
tap_done
