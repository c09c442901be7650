#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# A program that is many calls deep executes another one, and that fails: all its calls end, in a time that grows as their
# number does. With compact records they are entered once more, in their order; with plain ones the program's next call,
# of spent(), is the first.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc deep-exec deep-exec.c -O1 -fno-optimize-sibling-calls
depth=120000
ulimit -s 200000

./deep-exec "$depth" >plain.out 2>plain.err
for kind in plain compact; do
	rule='tree(main;lib=deep-exec)'
	if [ "$kind" = compact ]; then
		tree_compact
		rule='tree(main;lib=deep-exec;compact)'
	fi
	tree_record "$PWD/t" "$rule" ./deep-exec "$depth" >traced.out 2>traced.err
	is $? 0 "$kind: status"
	same_file traced.out plain.out "$kind: output"
	tree_balanced "$PWD/t" "$kind: balanced" --sequence t.seq
	calls=$((depth + 3 + 1))	# main(), deep() and execve(); spent()
	[ "$kind" = plain ] || calls=$((2 * (depth + 3)))
	is "$(grep -c deep-exec t.seq)" "$calls" "$kind: the calls that were entered"
	took=$(sed -n 's/^took \(.*\) ms$/\1/p' traced.err)
	spi_soon "${took%.*}" 3000 "$kind: and soon"
done
tap_done
