#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A traced program that forks, and one that runs other programs with vfork and
# exec: its children live, its output and statuses are those of an untraced run.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/zoo.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c

./zoo fork 20 >plain
spi_trace_ok "fork" -f t_leaf -o fork ./zoo fork 20
same_file trace.out plain "fork: output and the children's statuses"
spi_read fork
parent=$(events threads fork.txt t_leaf | sort -k2 -n | tail -n 1 | cut -d' ' -f2-)
is "$parent" "20 20" "fork: the parent's calls"
check "fork: balanced" events balance fork.txt

./zoo exec 10 >plain
spi_trace_ok "vfork and exec" -f t_leaf -o exec ./zoo exec 10
same_file trace.out plain "vfork and exec: output and statuses"
tap_done
