#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
# The same of one C++ program, built in many ways: its compiler's own labels are kept, so that nothing which a switch,
# a computed goto or an exception leads to may lie in a window. And stripped.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
builds='g++ -O0|g++ -O1|g++ -O2|g++ -O3 -march=x86-64-v3|g++ -Os|g++ -O2 -fno-plt|g++ -O2 -fcf-protection=full|g++ -O2 -fcf-protection=full -fno-plt -Wl,-z,now|g++ -O2 -fno-pie -no-pie|g++ -O3 -fno-pie -no-pie -fno-plt|g++ -O2 -Wl,-z,lazy|g++ -O2 -Wl,-z,noseparate-code|g++ -O2 -fno-jump-tables|g++ -O2 -Wl,-z,pack-relative-relocs'
have clang++ && builds="$builds|clang++ -O2|clang++ -O1 -fcf-protection=full|clang++ -O2 -fno-pie -no-pie"
# The sanitizers' build looks for faults of its own; what it finds is the same.
[ -z "${SPI_SANITIZED:-}" ] || builds='g++ -O0|g++ -O3 -march=x86-64-v3|g++ -O2 -fno-pie -no-pie'
plan $(($(echo "$builds" | tr '|' '\n' | wc -l) * 9 + 7))
cd "$tmp" || exit 1
while read -r build; do
	if ! $build -w -Wa,-L -o prog "$here/tree-sample.cc" 2> err; then
		skip 9 "$build: $(head -1 err)"
		continue
	fi
	"$codemap" map --tree -o tree.map ./prog
	mapdump tree.map > dump
	echo "# $build"
	compare ./prog dump labels
	# Functions that readelf's symbols know, each with its place in the map
	is "$(readelf -sW prog | awk '$4 == "FUNC" && $7 ~ /^[0-9]+$/ { print $2 }' | sed 's/^0*//' | sort -u | comm -23 - <(awk '/^func / { print $2 }' dump | sort -u) | wc -l)" 0 "$build: every function is in the map"
	# Switches and computed gotos of functions that have no frame are no calls
	is "$(awk '/^func/ { low[$5] = $2; size[$5] = $3 } /^tree/ { first[$2] = $3; count[$2] = $4 } /^site/ { kind[n++] = $3 }
		END { for (f in low) if (f ~ /machine_leaf|4leafii|falling/)
			for (i = first[low[f]]; i < first[low[f]] + count[low[f]]; i++) if (kind[i] == "JUMP_INDIRECT") print f, i }' dump)" \
		'' "$build: no switch is a call"
	# Stripped: the same sites; tail calls to unnamed pieces without a frame may come on top
	strip -o bare prog
	"$codemap" map --tree -o bare.map ./bare && mapdump bare.map > bare.dump
	line=$(python3 "$SPI_TOP_SRCDIR/tests/lib/tree-compare.py" ./prog dump --stripped bare.dump)
	grep '^#' <<< "$line"
	line=$(grep -v '^#' <<< "$line")
	ok "${line%%	*}" "$build: ${line#*	}"
done <<< "$(echo "$builds" | tr '|' '\n')"

# Something larger: spi-codemap itself, with many switches.
if [ -n "${SPI_SANITIZED:-}" ]; then
	skip 7 "with sanitizers, tree.t has larger files"
elif $CC -std=gnu11 -O2 -w -D_GNU_SOURCE -I"$SPI_TOP_SRCDIR" -Wa,-L -o own "$SPI_TOP_SRCDIR"/codemap/{,*/}*.c -lseccomp -lz -llzma -lzstd -ldl -lpthread 2> err; then
	"$codemap" map --tree -o tree.map ./own 2> err
	ok $? "spi-codemap itself $(cat err)"
	mapdump tree.map > dump
	compare ./own dump labels
else
	skip 7 "$(head -1 err)"
fi
