# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# For the tests on ways out of a function: run a target without and with
# tracing, and compare output, status and the calls that it counted itself.

# counted DIR FILE - each `count NAME N` line of FILE: N entries and N exits in the trace
counted() {
	local word name n problems=

	spi_read "$1" || return 1
	while read -r word name n; do
		[ "$word" = count ] || continue
		local entries exits
		entries=$(spi_count "$1" "${name}_entry")
		exits=$(spi_count "$1" "${name}_exit")
		[ "$entries" = "$n" ] && [ "$exits" = "$n" ] ||
			problems+="$name: program $n, entries $entries, exits $exits; "
	done <"$2"
	[ -z "$problems" ] || { diag "$problems"; return 1; }
}

# zoo_check NAME FUNCTIONS PROGRAM ARGS... - output and status as without tracing, counts exact, exits balanced
zoo_check() {
	local name=$1 functions=$2 dir=$SPI_TMP/zoo-$tap_count plain traced
	local -a options=()
	shift 2
	local f
	for f in $functions; do options+=(-f "$f"); done
	"$@" >"$dir.plain" 2>"$dir.plain.err" </dev/null
	plain=$?
	spi_trace "${options[@]}" -o "$dir" "$@" >"$dir.traced" </dev/null
	traced=$?
	is "$traced" "$plain" "$name: status" || diag "$(tail -n 8 "$SPI_TMP/trace.err")"
	same_file "$dir.traced" "$dir.plain" "$name: output"
	counted "$dir" "$dir.plain"
	ok $? "$name: each call has its entry and its exit"
	balanced "$dir" "$name: exits close their entries, innermost first"
}
