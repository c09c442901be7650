#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Threads that create threads; threads that end by returning, pthread_exit() and
# being cancelled 300 calls deep. Every thread has the calls that
# -finstrument-functions records for it, from its start routine on. (Many at once: many-threads.t.)
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc threads-truth threads.c -O0 -fexceptions -finstrument-functions
tree_cc threads threads.c -O0 -fexceptions
tree_is_truth "threads that create threads" nesting threads tree 4
tree_is_truth "ends of threads" nesting threads ends 5
tap_done
