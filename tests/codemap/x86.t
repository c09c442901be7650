#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Instruction lengths, jump targets and rip-relative operands against capstone's, over all of some programs' code.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
plan 3
cd "$tmp" || exit 1
src=$SPI_TOP_SRCDIR/codemap
$CC -std=gnu11 -O2 -D_GNU_SOURCE -I"$SPI_TOP_SRCDIR" -o compare "$SPI_TOP_SRCDIR/tests/programs/units/codemap/x86-compare.c" "$src"/elf/{image,compressed}.c "$src"/inflate/*.c \
	"$src"/map/marks.c "$src"/base/{fail,memory,text,write}.c "$src"/code/x86.c -lcapstone -lzstd -lpthread || { echo 'Bail out! cannot build'; exit 1; }
for file in "$(ldd /bin/cat | awk '/libc.so/ { print $3 }')" "$(ldd /bin/cat | awk '/libc.so/ { print $3 }' | sed 's/libc/libm/')" /usr/bin/git; do
	if [ ! -e "$file" ]; then skip 1 "no $file"; continue; fi
	result=$(./compare "$file")
	is "$(echo "$result" | sed 's/^[0-9]* //')" '0 0' "$file: ${result%% *} instructions"
done
