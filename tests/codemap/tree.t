#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
# Maps for call trees of real programs and libraries: every call that objdump shows, where it goes, the tail calls that
# readelf's unwind rows tell, moved code, room. tree-compare.py has the truth; it makes six comparisons a file.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
libc=$(ldd "$(command -v cat)" | awk '/libc.so/ { print $3 }')
sqlite=$(ldconfig -p | awk '/libsqlite3.so.0 .*x86-64/ { print $NF; exit }')
files="$libc $(ls /usr/bin/python3.[0-9]* | grep "[0-9]$" | head -1) $(command -v git) ${libc/libc/libm}"
[ -n "${SPI_SOAK:-}" ] && files="$files $sqlite $(command -v bash) $(command -v perl) $(command -v gdb) $(ldconfig -p | awk '/libstdc\+\+.so.6 .*x86-64|libcrypto.so.3 .*x86-64/ { print $NF }')"
# The sanitizers' build looks for faults on the way there, and what it finds is compared for one file.
compared=$files
[ -z "${SPI_SANITIZED:-}" ] || compared=$libc
plan $(($(echo "$files" | wc -w) + $(echo "$compared" | wc -w) * 6))
cd "$tmp" || exit 1
for file in $files; do
	"$codemap" map --tree -o tree.map "$file" 2> err
	ok $? "$file: $(cat err)"
	[ ! -s err ] && mapdump tree.map > dump || : > dump
	[[ " $compared " != *" $file "* ]] || compare "$file" dump
done
