#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Children that clone() makes, and which run beside their maker, on its
# thread-local memory or with a copy: functions traced by name record the maker's
# calls alone, the child is named, and nobody is harmed.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc beside beside.c

# as_maker NAME DIR OPTIONS - the maker's 8 000 calls of b_leaf(), balanced
as_maker() {
	case $3 in
	*one-event*) is "$(spi_count "$2" b_leaf)" 8000 "$1: its maker's calls alone" ;;
	*)
		is "$(spi_count "$2" b_leaf_entry)" 8000 "$1: its maker's calls alone"
		balanced "$2" "$1: balanced"
		;;
	esac
	check "$1: it is named" file_has trace.err 'not followed: a (child|thread): it was not made by'
}
for way in shared copy call; do
	for options in "-f b_leaf -f b_middle -f b_deep" "--one-event -f b_leaf"; do
		# shellcheck disable=SC2086
		spi_trace_same "$way, $options" "t-$tap_count" "./beside $way" $options --subbuf-size 1M
		as_maker "$way, $options" "$(ls -td t-* | head -n 1)" "$options"
	done
done

# the same in a process that runs already
for way in shared copy call; do
	rm -f input && mkfifo input
	exec 5<>input
	background bash -c "exec 5>&-; exec ./beside $way wait <input"
	timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f b_leaf -f b_deep --subbuf-size 1M -p "$target" -o "a-$way" >"$way.err" 2>&1 </dev/null 5>&- &
	front=$!
	spi_wait 20 file_has "$way.err" "Trace directory"
	exec 5>&-
	wait "$target"
	is $? 3 "$way, running: status"
	is "$(tail -n 1 target.out)" "$way: wrong: 0" "$way, running: output"
	wait "$front"
	mv "$way.err" trace.err
	as_maker "$way, running" "a-$way" ""
done
tap_done
