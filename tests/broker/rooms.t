#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# The broker's folders stand on each other in one order (broker/Makefile.am): none includes or calls a folder above itself.
set -e
src=${SPI_TOP_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${SPI_TOP_BUILDDIR:-$src/build}
rooms="base rules process inject scope io"

# wrong_includes - ROOM: FILE includes HEADER
wrong_includes() {
	for room in $rooms; do
		above=$(echo "$rooms" | sed "s/^.*\b$room\b *//; s/ /|/g")
		[ -z "$above" ] || grep -HnE "^#include \"broker/($above)/" "$src/broker/$room"/*.[ch] || :
	done
}

# wrong_references - ROOM: OBJECT refers to SYMBOL of ROOM
wrong_references() {
	for room in $rooms; do
		for file in "$src/broker/$room"/*.c; do
			object=$(basename "$file" .c).o
			nm "$build/broker/$room/$object" | sed "s|^|$room $object |"
		done
	done | awk -v rooms="$rooms" '
		BEGIN { n = split(rooms, name, " "); for (i = 1; i <= n; i++) place[name[i]] = i }
		NF == 5 && $4 ~ /^[TDBRVG]$/ { owner[$5] = $1 }
		NF == 4 && $3 == "U" { line[++lines] = $0 }
		END {
			for (i = 1; i <= lines; i++) {
				split(line[i], f, " ")
				if (f[4] in owner && place[owner[f[4]]] > place[f[1]])
					print f[1] ": " f[2] " refers to " f[4] " of " owner[f[4]]
			}
		}'
}

wrong=$(wrong_includes)
if [ -z "$wrong" ]; then echo "ok 1 - no folder includes one above itself"
else echo "$wrong" | sed 's/^/# /'; echo "not ok 1 - no folder includes one above itself"; fi
wrong=$(wrong_references)
if [ -z "$wrong" ]; then echo "ok 2 - no folder refers to one above itself"
else echo "$wrong" | sed 's/^/# /'; echo "not ok 2 - no folder refers to one above itself"; fi
echo 1..2
