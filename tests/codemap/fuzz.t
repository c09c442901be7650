#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Broken files, SPI_FUZZ_COUNT of them (120), the same ones each time: a map, or one line and status 1 or 3; no crash.
# To be run with spi-codemap built by --enable-sanitizers as well.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
plan 4
count=${SPI_FUZZ_COUNT:-120}
cd "$tmp" || exit 1
$CC -O2 -w -o mutate "$here/mutate.c" && $CC -O2 -g -gz -w -o a "$here/sample.c" && $CXX -O2 -gdwarf-4 -w -o b "$here/sample.cc" &&
	cp b d && strip d || { echo 'Bail out! no compiler'; exit 1; }
if have clang; then clang -O2 -gdwarf-5 -w -o c "$here/sample.c"; else cp a c; fi
for file in a b c d; do
	bad=0
	i=0
	while [ $i -lt $((count / 4)) ]; do
		i=$((i + 1))
		./mutate $file $i m
		"$codemap" map --pattern '*' -o out.map m > out 2> err
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
