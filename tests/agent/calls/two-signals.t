#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 60
#
# Two kinds of signals in one thread, one of them on another stack: handlers interrupt what records the program's calls, and
# what records each other's. Each call of theirs is recorded.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
spi_cc two-signals two-signals.c
ms=$([ -n "${SPI_SOAK:-}" ] && echo 5000 || echo 300)

# all_of NAME DIR - names.txt has what was recorded
all_of() {
	sort counted >counted.sorted
	sort "$2" | diff counted.sorted - >all.diff
	ok $? "$1: every call" || diag "$(cat all.diff)"
}

"$SPI_LTTNG" trace -f work -f leaf -f 'on_*' --subbuf-size 4M --num-subbuf 8 -o named ./two-signals "$ms" >counted 2>trace.err </dev/null
is $? 0 "functions by name: traced" || diag "$(tail -n 5 trace.err)"
for function in work leaf on_here on_there; do
	echo "$function $(spi_count named "${function}_entry")"
done >recorded
all_of "functions by name" recorded
balanced named "functions by name: balanced"

nm two-signals | awk '$2 == "T" { sub("^0*", "", $1); print "two-signals+0x" $1, $3 }' >addresses
for compact in "" --compact; do
	name="call tree${compact:+, compact}"
	# shellcheck disable=SC2086
	"$SPI_LTTNG" trace --tree $compact --subbuf-size 4M --num-subbuf 8 -o t$compact ./two-signals "$ms" >counted 2>trace.err </dev/null
	is $? 0 "$name: traced" || diag "$(tail -n 5 trace.err)"
	TREE_COMPACT=$compact tree_balanced "t$compact" "$name: balanced" --counts counts
	awk 'NR == FNR { name[$1] = $2; next } { n = $2; sub(".*/", "", n); if (name[n] ~ /^(work|leaf|on_)/) print name[n], $1 }' \
		addresses counts >recorded
	all_of "$name" recorded
done
tap_done
