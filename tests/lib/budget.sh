# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What the tests of budgets share: a program with one function that is called far too often, run without and with tracing.

. "${BASH_SOURCE[0]%/*}/tree.sh"

tree=--tree	# or --tree=ROOT
hot=500000000	# calls of 1 ns: half a second

# slow_down FILE - the median of second / first number of each line, in 1/1000 above 1
slow_down() {
	python3 -c '
import statistics, sys
print(round(1000 * (statistics.median(int(b) / int(a) for a, b in (l.split() for l in open(sys.argv[1]))) - 1)))' "$1"
}
# hot_runs NAME [OPTION] - ./busy under a budget of 5 %, so that few of its calls are recorded. In `make soak` nine times, and
# the median of the processor times of pairs of runs is within the budget.
hot_runs() {
	local name=$1 i slow
	for ((i = 0; i < ${SPI_SOAK:+8} + 1; i++)); do
		budget "$name" 5 ./busy loop "$hot" ${2:+"$2"}
	done
	slow=$(slow_down "$name.cpu")
	diag "$name: slower by $slow/1000 ($(tr '\n' ';' <"$name.cpu"))"
	[ -z "${SPI_SOAK:-}" ] || check "$name: not slower than by the budget" [ "$slow" -le 50 ]
	nests "$name" ${2:+compact}
	check "$name: most calls are left out" [ "$(entries "$name")" -lt $((hot / 10)) ]
}
cpu() { sed -n 's/^cpu //p' "$1"; }

# budget NAME PERCENT PROGRAM WAY CALLS [OPTION...] - a run without, and one with $tree --budget PERCENT into NAME.d
budget() {
	local name=$1 percent=$2
	local -a command=("$3" "$4" "$5")
	shift 5
	"${command[@]}" >"$name.plain" 2>"$name.plain.err"
	rm -rf "$name.d"
	timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace "$tree" "$@" --budget "$percent" -o "$name.d" "${command[@]}" \
		>"$name.out" 2>"$name.err"
	is $? 0 "$name: exit status" || diag "$(tail -n 5 "$name.err")"
	same_file "$name.out" "$name.plain" "$name: output"
	echo "$(cpu "$name.plain.err") $(cpu "$name.err")" >>"$name.cpu"
}
# nests NAME [compact] - read the trace: every exit has its entry. Leaves the budget's events in NAME.events, and how often
# each function was called in NAME.counts.
nests() {
	local name=$1
	local -a expand=()

	[ $# -lt 2 ] || expand=(--expand "$SPI_EXPAND")
	"$SPI_TMP/calls" "${expand[@]}" --counts "$name.counts" "$name.d" >"$name.calls" 2>"$name.problems"
	ok $? "$name: entries and exits nest" || diag "$(cat "$name.calls")" "$(head -n 5 "$name.problems")"
	babeltrace2 "$name.d" 2>"$name.warn" | grep -a 'spi_tree:budget' >"$name.events"
}
events_of() { cat "$1.events"; }
entries() { sed 's/entries \([0-9]*\) .*/\1/' "$1.calls"; }
# calls_of NAME PROGRAM REGEX - FUNCTION CALLS, a line for each function of the program that the regular expression names
calls_of() {
	awk -v program="/$2+0x" -v regex="^($3)\$" '
		NR == FNR { if ($3 ~ regex) { sub(/^0+/, "", $1); name[$1] = $3 } next }
		(at = index($2, program)) && (f = substr($2, at + length(program))) in name { print name[f], $1 }' <(nm "$2") "$1.counts"
}
# again_and_recorded NAME PROGRAM FUNCTION - how many calls of it are recorded since it was left out last
again_and_recorded() {
	local all before
	all=$(calls_of "$1" "$2" "$3" | cut -d ' ' -f 2)
	before=$(events_of "$1" | sed -n "s/.* calls = \\([0-9]*\\), .*\"left_out\".* function = \"$3\".*/\\1/p" | tail -n 1)
	echo "$((all - before))"
}
