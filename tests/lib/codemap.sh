# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# TAP and helpers for the tests of spi-codemap. Sourced; gives $codemap, $here (tests/programs), $tmp (removed at the end), ok, is, skip.
: "${SPI_TOP_SRCDIR:?}"
: "${SPI_TOP_BUILDDIR:=$SPI_TOP_SRCDIR}"
: "${CC:=gcc}" "${CXX:=g++}"
codemap=${SPI_CODEMAP:-$SPI_TOP_BUILDDIR/codemap/spi-codemap}
here=$SPI_TOP_SRCDIR/tests/programs
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
export LTTNG_SPI_CACHE=
export LC_ALL=C
tap_n=0

plan() { echo "1..$1"; }

# ok STATUS TEXT
ok() {
	tap_n=$((tap_n + 1))
	if [ "${1:-1}" -eq 0 ]; then echo "ok $tap_n - $2"; else echo "not ok $tap_n - $2"; fi
}

# is GOT WANTED TEXT
is() {
	tap_n=$((tap_n + 1))
	if [ "$1" = "$2" ]; then
		echo "ok $tap_n - $3"
	else
		echo "not ok $tap_n - $3"
		printf '%s\n' "$1" | sed 's/^/#    got: /'
		printf '%s\n' "$2" | sed 's/^/# wanted: /'
	fi
}

# skip COUNT WHY
skip() {
	n=$1
	while [ "$n" -gt 0 ]; do
		tap_n=$((tap_n + 1))
		echo "ok $tap_n # SKIP $2"
		n=$((n - 1))
	done
}

have() { command -v "$1" > /dev/null 2>&1; }

# mapdump FILE: a map as text; see mapdump.c
mapdump() {
	[ -x "$tmp/mapdump" ] || $CC -std=gnu11 -O1 -I"$SPI_TOP_SRCDIR" -o "$tmp/mapdump" "$SPI_TOP_SRCDIR/tests/programs/units/codemap/mapdump.c" \
		"$SPI_TOP_SRCDIR/codemap/map/check.c" || return 1
	"$tmp/mapdump" "$1"
}

# compare FILE DUMP [LABELS]: six tests
compare() {
	python3 "$SPI_TOP_SRCDIR/tests/lib/tree-compare.py" "$@" > compared 2>&1
	grep '^#' compared
	if [ "$(grep -c '	' compared)" -ne 6 ]; then sed 's/^/# /' compared; fi
	for n in 1 2 3 4 5 6; do
		line=$(grep '	' compared | sed -n "${n}p")
		ok "${line%%	*}" "$(basename "$1"): ${line#*	}"
	done
}
