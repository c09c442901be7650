#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# Compact records, expanded, are the calls that typed events show: in every way a
# function can be called and left, thread by thread and call by call.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
spi_daemon
spi_cc ways "$SPI_TOP_SRCDIR/tests/programs/ways.cc" -fno-optimize-sibling-calls
for way in 'nest 1000' 'throw 500' 'jump 500' 'thread 400' 'ending' 'signal 500' 'fork' 'exit'; do
	read -r name n <<<"$way"
	./ways $way >"$name.alone"
	alone=$?
	record "$name-plain" 'ways:t_*' ./ways $way
	record "$name" 'call(ways:t_*;compact)' ./ways $way
	is "$?" "$alone" "$name: exit status"
	same_file "$name.out" "$name.alone" "$name: output"
	spi_read "$name-plain"
	expand "$name"
	check "$name: the same calls in each thread" python3 "$compare" same ./ways "$name-plain.txt" "$name.expanded"
	is "$(cat "$name.warn")" "" "$name: nothing missing"
	[ "$name" = fork ] || check "$name: balanced" python3 "$compare" balance "$name.expanded"
	is "$(grep -acE 'spi_tree:(calls|site)' "$name.expanded")" 0 "$name: no packed records are left over"
done
tap_done
