# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What the tests of budgets share: a program with one function that is called far too often, run without and with tracing.

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
	check "$name: most calls are left out" [ "$(grep -ac func_entry "$name.d.names")" -lt $((hot / 10)) ]
}
cpu() { sed -n 's/^cpu //p' "$1"; }

# budget NAME PERCENT PROGRAM WAY CALLS [OPTION...] - a run without, and one with $tree --budget PERCENT into NAME.d
budget() {
	local name=$1 percent=$2
	local -a command=("$3" "$4" "$5")
	shift 5
	"${command[@]}" >"$name.plain" 2>"$name.plain.err"
	rm -rf "$name.d"
	timeout 60 "$SPI_LTTNG" trace "$tree" "$@" --budget "$percent" -o "$name.d" "${command[@]}" >"$name.out" 2>"$name.err"
	is $? 0 "$name: exit status" || diag "$(tail -n 5 "$name.err")"
	same_file "$name.out" "$name.plain" "$name: output"
	echo "$(cpu "$name.plain.err") $(cpu "$name.err")" >>"$name.cpu"
}
# nests NAME [compact] - read the trace: every exit has its entry
nests() {
	tree_read "$1.d" "${@:2}"
	python3 - "$1.d.names" <<'PY'
import re, sys
stacks, bad, n = {}, 0, 0
for line in open(sys.argv[1], errors='replace'):
    m = re.search(r'lttng_ust_cyg_profile:func_(entry|exit): .*vpid = (\d+), vtid = (\d+).*addr = (0x[0-9A-F]+)', line)
    if not m:
        continue
    n += 1
    stack = stacks.setdefault((m[2], m[3]), [])
    if m[1] == 'entry':
        stack.append(m[4])
    elif not stack or stack.pop() != m[4]:
        bad += 1
sys.exit(bad or any(stacks.values()) or not n)
PY
	ok $? "$1: entries and exits nest"
}
events_of() { grep -a 'spi_tree:budget' "$1.d.names"; }
