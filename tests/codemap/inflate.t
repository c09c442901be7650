#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Our inflate against zlib's: whole streams and broken ones, under sanitizers.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
plan 2
cd "$tmp" || exit 1
for flags in '-O2' '-O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined'; do
	# shellcheck disable=SC2086
	if ! $CC -std=gnu11 $flags -I"$SPI_TOP_SRCDIR" -o compare "$SPI_TOP_SRCDIR/tests/programs/units/codemap/inflate-compare.c" "$SPI_TOP_SRCDIR"/codemap/inflate/*.c -lz; then
		skip 1 'cannot build'
		continue
	fi
	result=$(ASAN_OPTIONS=detect_leaks=0 ./compare /bin/bash 2> err)
	status=$?
	sed 's/^/# /' err
	ok $status "$result: $flags"
done
