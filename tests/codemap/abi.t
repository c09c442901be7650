#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Values of random signatures, read from raw registers and memory by the map, against what the function itself sees.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
plan 6
cd "$tmp" || exit 1
python=/usr/bin/python3
if ! have gdb || [ ! -x $python ]; then
	skip 6 'needs gdb and python3'
	exit 0
fi

# agree SEED COUNT COMPILER FLAGS...
agree() {
	seed=$1 count=$2
	shift 2
	$python "$SPI_TOP_SRCDIR/tests/lib/abi-gen.py" "$seed" "$count" > t.c
	"$@" -g -w -o t t.c -lm || { skip 1 "cannot build with $*"; return; }
	./t > want
	"$codemap" map --pattern 'f[0-9]*' -o t.map ./t
	timeout 300 gdb -nx -batch -ex "py MAP='t.map'; OUT='got'; MAIN='$(nm t | awk '$3 == "main" { print $1 }')'" \
		-x "$SPI_TOP_SRCDIR/tests/lib/abi-gdb.py" ./t > gdb.log 2>&1
	differ=$(diff want got | grep -c '^[<>]')
	[ "$differ" -eq 0 ] || diff want got | head -10 | sed 's/^/# /'
	ok "$differ" "$(wc -l < want) values of $count functions: $*"
}
agree 1 60 "$CC" -O2
agree 2 60 "$CC" -O0
agree 3 40 "$CC" -O3 -gdwarf-4
if have clang; then
	agree 4 40 clang -O2
	agree 5 40 clang -O0
	agree 6 40 clang -O1 -gdwarf-4
else
	skip 3 'no clang'
fi
