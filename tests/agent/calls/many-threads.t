#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# timeout: 120
# soak-timeout: 600
#
# 64 threads that create and end thousands more, plain and compact: each has the calls
# that -finstrument-functions records for it.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc threads-truth threads.c -O0 -fexceptions -finstrument-functions
tree_cc threads threads.c -O0 -fexceptions
n=1280
[ -z "${SPI_SOAK:-}" ] || n=10048
tree_is_truth "$n threads" nesting threads many "$n"
tree_compact
tree_is_truth "$n threads, compact" nesting threads many "$n"
tap_done
