# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Shared by the tests of executed programs: the same command with and without a
# tracer, and what is in the trace of it.

. "${BASH_SOURCE[0]%/*}/tree.sh"

# followed NAME OPTIONS COMMAND... - `lttng trace --tree OPTIONS -o t`: output and status as without, calls balanced
followed() {
	local name=$1 plain traced
	local -a options expand=()
	read -ra options <<<"$2"
	shift 2
	[[ " ${options[*]} " != *" --compact "* ]] || expand=(--expand "$SPI_EXPAND")
	"$@" >plain.out 2>plain.err </dev/null
	plain=$?
	rm -rf t
	"$SPI_LTTNG" trace --tree "${options[@]}" -o t "$@" >traced.out 2>traced.err </dev/null
	traced=$?
	is "$traced" "$plain" "$name: status" || diag "$(tail -n 5 traced.err)"
	same_file traced.out plain.out "$name: output"
	tree_balanced t "$name: balanced" --counts t.counts "${expand[@]}"
}

# programs - the executables whose calls are in the trace, in one line
programs() {
	sed -E 's/^[0-9]+\t//; s/\+0x[0-9a-f]+$//; /\.so[.0-9]*$/d; s|.*/||' t.counts | LC_ALL=C sort -u | tr '\n' ' '
}

# calls_of OBJECT - how many calls of its functions the trace has
calls_of() {
	awk -F '\t' -v object="/$1+" 'index($2, object) { n += $1 } END { print n + 0 }' t.counts
}

# summary TEXT NAME - a line of the closing summary, as a regular expression
summary() {
	like "$(cat traced.err)" "$1" "$2"
}
