#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
#
# Threads that the program makes by a clone system call of its own, without libc:
# nothing of theirs is recorded, and nobody is harmed, neither where the process is
# started traced nor where it runs already. With their maker's thread-local memory
# as well as with some of their own, zero or not.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
spi_cc raw-threads raw-threads.c

rounds=30
for way in zero filled shared; do
	./raw-threads "$way" "$rounds" >plain.out
	for options in "-f r_leaf" "-f r_leaf -f r_work -f r_child" "--tree" "--tree --compact"; do
		rm -rf t t.txt
		read -ra list <<<"$options"
		spi_trace "${list[@]}" -o t ./raw-threads "$way" "$rounds" >traced.out
		is $? 0 "$way, $options: status" || diag "$(tail -n 5 trace.err)"
		same_file traced.out plain.out "$way, $options: output"
		if [ "$options" = "-f r_leaf" ]; then
			balanced t "$way, $options: balanced"
			[ "$way" = shared ] || is "$(spi_count t r_leaf_entry)" $((rounds * 40)) "$way: the calls of libc's thread"
		elif [[ $options = --tree* ]]; then
			expand=()
			[[ $options != *--compact* ]] || expand=(--expand "$SPI_EXPAND")
			tree_balanced t "$way, $options: balanced" "${expand[@]}"
		fi
	done
done

# the same in a process that runs already
for way in zero filled mixed shared; do
	background ./raw-threads "$way" 0
	for options in "-f r_leaf -f r_work" "--tree" "--tree --compact"; do
		rm -rf t t.txt
		read -ra list <<<"$options"
		spi_trace "${list[@]}" -p "$target" --duration 0.15 -o t >trace.out
		is $? 0 "$way, $options, attached: status" || diag "$(tail -n 5 trace.err)"
	done
	finish "$target"
	is $? 0 "$way, attached: the program's status"
	is "$(tail -n 1 target.out)" "$way: as it should be" "$way, attached: its output"
done
tap_done
