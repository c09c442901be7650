#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# An allocator without handlers of fork(), before libc's: a child must not wait for what a thread of the tracer's held of it when its
# parent forked. Every call of each child is in the trace.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
gcc -O1 -shared -fPIC -o libmalloc.so "$SPI_TOP_SRCDIR/tests/programs/locked-malloc.c" || { echo "Bail out! gcc"; exit 1; }
tree_cc forks locked-malloc-forks.c -O1
children=30
for how in "-f in_child" "--tree=main --lib forks" "--tree=main --lib forks --compact"; do
	rm -rf t t.txt
	read -ra options <<<"$how"
	timeout -k 2 $((100 * SPI_PATIENCE)) "$SPI_LTTNG" trace "${options[@]}" -o t env LD_PRELOAD="$PWD/libmalloc.so" ./forks $children >out 2>err
	is $? 0 "$how: all children end as ever" || diag "$(tail -n 3 err)"
	case $how in
	-f*) got=$(spi_count t in_child_entry) ;;
	*)
		expand=()
		[[ $how != *--compact ]] || expand=(--expand "$SPI_EXPAND")
		tree_tools
		"$SPI_TMP/calls" "${expand[@]}" --counts counts t >/dev/null 2>problems
		got=$(awk -F '\t' -v at="$(nm forks | awk '$3 == "in_child" { sub("^0*", "", $1); print $1 }')" '$2 ~ "forks[+]0x" at "$" { print $1 }' counts)
		;;
	esac
	is "$got" $((2 * children)) "$how: and every call of theirs is recorded"
done
tap_done
