# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# For the tests on real programs: the same command without and with every
# function of its main object traced.

# real_check NAME COMMAND ARGS... - stdout, stderr and status byte for byte as without tracing.
# Runs in ./work, made anew by the function real_setup each time; stdin from ./stdin where there is one.
# The object is the file that the command turns out to be. Leaves the trace in $SPI_TMP/real.
real_check() {
	local name=$1 object plain traced input=/dev/null
	shift
	object=$(readlink -f "$(command -v "$1")")
	object=${object##*/}
	object=${object//[/\\[}
	rm -rf real
	[ ! -e stdin ] || input=$PWD/stdin
	rm -rf work && mkdir work && (cd work && real_setup && exec "$@") >plain.out 2>plain.err <"$input"
	plain=$?
	rm -rf work && mkdir work && (cd work && real_setup &&
		exec "$SPI_LTTNG" -q trace -f "$object:*" -o "$SPI_TMP/real" "$@") >traced.out 2>traced.err <"$input"
	traced=$?
	local differs=
	[ "$plain" = "$traced" ] || differs+="status $traced, not $plain; "
	cmp -s plain.out traced.out || differs+="stdout: $(diff -a plain.out traced.out | head -n 4 | cut -c1-200); "
	cmp -s plain.err traced.err || differs+="stderr: $(diff -a plain.err traced.err | head -n 4 | cut -c1-200); "
	[ -z "$differs" ]
	ok $? "$name: stdout, stderr and status as without" || diag "$* : $differs"
	# Something was recorded: a trace that is empty would be as quiet.
	[ "$(find real -type f -size +0 -path '*ust*' ! -name 'metadata*' ! -name '*.idx' 2>/dev/null | wc -l)" -gt 0 ]
	ok $? "$name: its functions were recorded"
}

real_setup() { :; }

# real_coverage NAME OBJECT - under 1 % of the functions readelf shows are not instrumented, each with its reason
real_coverage() {
	local out
	[ -d real ] || { fail "$1: no trace to look at"; return; }
	out=$(python3 "$SPI_TOP_SRCDIR/tests/lib/coverage.py" "$2" real/not-instrumented.txt 2>&1)
	ok $? "$1: under 1 % of its functions not instrumented, each with its reason"
	diag "$(head -n 12 <<<"$out")"
}
