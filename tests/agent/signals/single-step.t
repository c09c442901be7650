#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
#
# A program that single-steps itself and has its own handler for that: it lives,
# computes what it did, and sees no step in the tracer's code; under rules for functions
# (that of its handler's included) and call trees, started traced and attached to. Who steps through malloc() is let out of
# it before anything is loaded into it.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
spi_cc single-step single-step.c

for way in flag handler fork threads late; do
	./single-step "$way" 5 >plain.out
	is $? 0 "$way: runs by itself"
	like "$(cat plain.out)" 'steps seen, elsewhere none' "$way: and sees its steps"
	for options in "-f s_leaf -f s_middle -f s_seen" "--tree" "--tree --compact"; do
		rm -rf t t.txt
		read -ra list <<<"$options"
		spi_trace "${list[@]}" -o t ./single-step "$way" 5 >traced.out
		is $? 0 "$way, $options: status" || diag "$(tail -n 5 trace.err)"
		same_file traced.out plain.out "$way, $options: output"
		if [[ $options = -f* ]]; then
			balanced t "$way, $options: balanced"
			[ "$(spi_count t s_seen_entry)" -gt 50 ]
			ok $? "$way: its handler's calls are recorded"
		else
			expand=()
			[[ $options != *--compact* ]] || expand=(--expand "$SPI_EXPAND")
			tree_balanced t "$way, $options: balanced" "${expand[@]}"
		fi
	done
done

for way in flag handler late; do
	background ./single-step "$way" 0
	for options in "-f s_leaf -f s_middle -f s_seen" "--tree" "--tree --compact"; do
		rm -rf t t.txt
		read -ra list <<<"$options"
		spi_trace "${list[@]}" -p "$target" --duration 0.15 -o t >trace.out
		is $? 0 "$way, $options, attached: status" || diag "$(tail -n 5 trace.err)"
	done
	finish "$target"
	is $? 0 "$way, attached: the program's status"
	like "$(tail -n 1 target.out)" "^$way: 0, right, steps seen" "$way, attached: its output"
done
background ./single-step alloc 0
spi_trace -f s_leaf -p "$target" --duration 0.15 -o alloc >trace.out
is $? 0 "alloc, attached: status" || diag "$(tail -n 5 trace.err)"
for i in 1 2 3 4 5 6 7 8; do
	gcc -shared -fPIC -o "loaded$i.so" -x c - <<<"int loaded;" || exit 1
	"$SPI_INJECT" pid "$target" "$PWD/loaded$i.so" >>inject.log 2>&1 || echo failed >>inject.log
done
is "$(grep -c ' stopped for .* us' inject.log)" 8 "alloc: libraries are loaded into it between its steps" || diag "$(tail -n 8 inject.log)"
is "$(sort -u -k 6,6 "/proc/$target/maps" | grep -c 'loaded[1-8].so')" 8 "alloc: and are there"
finish "$target"
is $? 0 "alloc: the program's status"
like "$(tail -n 1 target.out)" "^alloc: 0, right, steps seen" "alloc: its output"
tap_done
