# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# For the tests of compact records: sessions, runs of ways.cc with typed events and
# with compact records, and the expanded trace.

. "${BASH_SOURCE[0]%/*}/../lib/trace.sh"
SPI_EXPAND=(--plugin-path="$SPI_TOP_BUILDDIR/bt2/.libs" --component=filter.lttng-spi.expand)
compare=$SPI_TOP_SRCDIR/tests/bt2/compare.py

# record DIR RULE COMMAND... - trace a command that has the agent alone; status of the command
record() {
	local dir=$1 rule=$2 status
	shift 2
	lttng -q create "$dir" --output="$SPI_TMP/$dir" ${SNAPSHOT:+--snapshot} || return 1
	lttng -q enable-channel -u -s "$dir" ch ${CHANNEL:---subbuf-size=1M --num-subbuf=8} || return 1
	lttng -q enable-event -u -s "$dir" -c ch 'spi*:*,lttng_ust_cyg_profile:*' || return 1
	lttng -q add-context -u -s "$dir" -c ch -t vpid -t vtid -t ip || return 1
	lttng -q start "$dir"
	${BEFORE:-} "${SPI_ALONE[@]}" LTTNG_SPI_RULES="$rule" LTTNG_SPI_DEBUG="$SPI_TMP/$dir.notes" "$@" >"$dir.out" 2>"$dir.err"
	status=$?
	lttng -q destroy "$dir"
	return "$status"
}

# expand DIR - the trace with compact records expanded, as text in DIR.expanded
expand() {
	babeltrace2 "${SPI_EXPAND[@]}" "$SPI_TMP/$1" >"$1.expanded" 2>"$1.warn" ||
		{ diag "babeltrace2: $(tail -n 3 "$1.warn")"; return 1; }
}
