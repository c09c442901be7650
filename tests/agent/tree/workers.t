#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Each worker forced alone. A breakpoint fits every call; with the others, calls
# that do not fit are left alone: output, status and balance are as ever.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc kinds-truth kinds.c -O0 -finstrument-functions
tree_cc kinds kinds.c -O2 -fno-inline
tree_cc throws throws.cc -O2
tree_cc threads threads.c -O2 -fexceptions
TREE_ENV=LTTNG_SPI_TEST_WORKER=trap tree_is_truth "trap" nesting kinds
real_setup() { ln -s ../kinds ../throws ../threads .; }
for worker in call block trap; do
	export TREE_ENV=LTTNG_SPI_TEST_WORKER=$worker
	tree_real "$worker, C" ./kinds
	tree_real "$worker, exceptions" ./throws 3 3
	tree_real "$worker, threads" ./threads ends 3
done

# Where the call of threads' destructors is not seen, lttng-ust's own is in the tree's way.
tree_compact
export TREE_ENV=LTTNG_SPI_TEST_WORKER=call
real_setup() { seq 2000 >numbers; }
if command -v zstd >/dev/null; then
	tree_real "call, threads that end" "$(command -v zstd)" -q -c numbers
else
	skip "call, threads that end" "zstd is not installed"
fi
tap_done
