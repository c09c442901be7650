# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# For the tests of spi-codemap: $codemap, $here (tests/programs), $tmp (removed at the end).
: "${SPI_TOP_SRCDIR:?}"
: "${SPI_TOP_BUILDDIR:=$SPI_TOP_SRCDIR}"
: "${CC:=gcc}" "${CXX:=g++}"
codemap=${SPI_CODEMAP:-$SPI_TOP_BUILDDIR/codemap/spi-codemap}
here=$SPI_TOP_SRCDIR/tests/programs
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
export LTTNG_SPI_CACHE=
export LC_ALL=C
. "$SPI_TOP_SRCDIR/tests/lib/tap.sh"

# plan N - how many checks there will be: no tap_done
plan() { echo "1..$1"; }

# skip COUNT WHY - so many checks
skip() {
	local n
	for ((n = 0; n < $1; n++)); do
		tap_count=$((tap_count + 1))
		echo "ok $tap_count # SKIP $2"
	done
}

have() { command -v "$1" > /dev/null 2>&1; }

# mapdump FILE: a map as text; see mapdump.c
mapdump() {
	[ -x "$tmp/mapdump" ] || $CC -std=gnu11 -O1 -I"$SPI_TOP_SRCDIR" -o "$tmp/mapdump" "$SPI_TOP_SRCDIR/tests/programs/units/codemap/mapdump.c" \
		"$SPI_TOP_SRCDIR"/codemap/map/check{,-detail}.c || return 1
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
