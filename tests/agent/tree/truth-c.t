#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# All kinds of calls in C: the calls that the tree records, their order, functions
# and call sites are those that -finstrument-functions records, whatever the
# compiler made of them: calls, jumps, calls through memory, over the PLT or not.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc kinds-truth kinds.c -O0 -finstrument-functions
for options in -O0 '-O2 -fno-inline' '-O3 -fno-inline -fno-crossjumping' '-O2 -fno-inline -no-pie' '-O1 -fno-inline -fno-plt -fcf-protection' '-Os -fno-inline -fno-tree-tail-merge -fno-crossjumping'; do
	# shellcheck disable=SC2086
	tree_cc kinds kinds.c $options
	tree_is_truth "$options" nesting kinds
done
strip -o stripped kinds
mv stripped kinds
tree_record "$SPI_TMP/bare" "${TREE_RULE:-tree(main)}" ./kinds >bare.out
is "$?" 47 "stripped: status"
tree_balanced "$SPI_TMP/bare" "stripped: balanced"
tap_done
