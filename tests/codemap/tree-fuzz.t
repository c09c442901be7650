#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Maps for call trees: of broken files (SPI_FUZZ_COUNT, 160), a map or one line; and broken maps, which the verifier
# must not let pass when something in them leads outside.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
plan 8
count=${SPI_FUZZ_COUNT:-160}
cd "$tmp" || exit 1
$CC -O2 -w -o mutate "$here/mutate.c" && $CXX -O2 -w -o a "$here/tree-sample.cc" && $CXX -O2 -fno-pie -no-pie -w -o b "$here/tree-sample.cc" &&
	$CXX -O2 -fno-plt -Wl,-z,pack-relative-relocs -w -o c "$here/tree-sample.cc" && strip -o d a || { echo 'Bail out! no compiler'; exit 1; }
for file in a b c d; do
	bad=0
	i=0
	while [ $i -lt $((count / 4)) ]; do
		i=$((i + 1))
		./mutate $file $i m
		"$codemap" map --tree $([ $((i % 4)) != 0 ] || echo --detail) -o out.map m > out 2> err
		status=$?
		lines=$(wc -l < err)
		if [ $status -eq 0 ]; then
			[ "$lines" -eq 0 ] && mapdump out.map > /dev/null && continue
		elif [ $status -eq 1 ] || [ $status -eq 3 ]; then
			[ "$lines" -eq 1 ] && ! grep -qE 'signal|internal|Sanitizer' err && continue
		fi
		echo "# $file, seed $i: status $status: $(head -1 err)"
		bad=$((bad + 1))
	done
	is $bad 0 "$((count / 4)) broken copies of $file"
done
"$codemap" map --tree -o tree.map ./a
"$codemap" map --tree --detail -o detail.map ./a
for how in -O2 '-O1 -g -fsanitize=address,undefined'; do
	if $CC -std=gnu11 -w $how -I"$SPI_TOP_SRCDIR" -o map-fuzz "$SPI_TOP_SRCDIR/tests/programs/units/codemap/map-fuzz.c" \
		"$SPI_TOP_SRCDIR"/codemap/map/check{,-detail}.c 2> /dev/null; then
		for map in tree detail; do
			result=$(ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 \
				./map-fuzz $map.map $((count * 125)) 2>&1)
			status=$?
			[ $status -eq 0 ] || sed 's/^/# /' <<< "$result" | head -20
			ok $status "broken maps, $map ($how): $(tail -1 <<< "$result")"
		done
	else
		skip 2 "no $how"
	fi
done
