# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# For the tests of compact records: sessions, runs of ways.cc with typed events and
# with compact records, and the expanded trace.

. "${BASH_SOURCE[0]%/*}/trace.sh"
SPI_EXPAND=(--plugin-path="$SPI_TOP_BUILDDIR/bt2/.libs" --component=filter.lttng-spi.expand)
compare=$SPI_TOP_SRCDIR/tests/lib/compact-compare.py

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

# compact_is_plain NAME [ARG...] - checks: this run of ./ways has the same calls with compact records and without
compact_is_plain() {
	local name=$1 alone only=
	./ways "$@" >"$name.alone"
	alone=$?
	# of threads, which of them does what in libc is a matter of chance
	case $name in thread|ending) only=';lib=ways' ;; esac
	# what libgcc allocates for the unwind tables of the tracer's own depends on how many these are
	[ "$name" != throw ] || only=';exclude=_int_malloc'
	# the same addresses in both runs
	BEFORE='setarch -R' record "$name-plain" "tree(main$only)" ./ways "$@"
	BEFORE='setarch -R' record "$name" "tree(main$only;compact)" ./ways "$@"
	is "$?" "$alone" "$name: exit status"
	same_file "$name.out" "$name.alone" "$name: output"
	expand "$name"
	expand "$name-plain"
	check "$name: the same calls in each thread" python3 "$compare" sequences "$name-plain.expanded" "$name.expanded"
	check "$name: balanced" python3 "$compare" balance "$name.expanded"
	is "$(cat "$name.warn")" "" "$name: nothing missing"
}

# storm_is_whole N - checks: N calls of a loop, and those of a handler that interrupts it, are all there
storm_is_whole() {
	local n=$1 calls
	CHANNEL='--subbuf-size=4M --num-subbuf=8' record storm 'call(ways:t_*;compact)' ./ways storm "$n"
	is $? 0 "storm: the program ends as it should"
	expand storm
	read -r _ calls <storm.out
	is "$(python3 "$compare" balance storm.expanded)" "entries $calls exits $calls crossed 0 open 0 backward 0" \
		"storm: every call has its entry and its exit"
	is "$(cat storm.warn)" "" "storm: nothing is missing"
	[ "$calls" -gt $((3 * n + 20)) ]
	ok $? "storm: the handler did come" || diag "$calls"
}
