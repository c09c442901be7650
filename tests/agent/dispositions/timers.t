#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Timers whose callbacks libc runs in threads: the thread that waits for them has a
# signal blocked that nobody may unblock, or the process ends by it.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc timers timers.c -O1
leaf=$(nm timers | awk '$3 == "t_leaf" { sub(/^0*/, "", $1); print $1 }')

for options in --tree "--tree --compact" "-f libc.so.6:start_thread -f t_leaf"; do
	# shellcheck disable=SC2086
	spi_trace_same "$options" "t-$tap_count" "./timers" $options
	dir=$(ls -td t-* | grep -v counts | head -n 1)
	expand=()
	case $options in
	-f*)
		is "$(spi_count "$dir" t_leaf_entry)" 10 "$options: calls in the callbacks"
		balanced "$dir" "$options: balanced"
		;;
	*)
		[ "$options" = --tree ] || expand=(--expand "$SPI_EXPAND")
		tree_balanced "$dir" "$options: balanced" --counts counts "${expand[@]}"
		is "$(awk -F '\t' -v f="/timers+0x$leaf" 'index($2, f) { print $1 }' counts)" 10 "$options: calls in the callbacks"
		;;
	esac
done
tap_done
