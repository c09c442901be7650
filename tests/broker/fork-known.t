#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A fork that waits for a thread, which calls what one tree has met before and another, of a rule that came since, has not: the
# first has all calls, and what the second has not is counted.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree.sh"
spi_private "$@"
tree_tools
spi_cc fork-known "$SPI_TOP_SRCDIR/tests/programs/fork-known.c" -Wl,--no-as-needed -llttng-ust
spi_sessiond
export LTTNG_UST_ALLOW_BLOCKING=1

# session NAME OPTION... - one that loses nothing, with a tree of work()
session() {
	quiet lttng create "$1" -o "$PWD/$1.trace"
	quiet lttng enable-channel -u -s "$1" big --num-subbuf 8 --subbuf-size 1M --blocking-timeout=inf
	quiet lttng add-context -u -s "$1" -c big -t vpid -t vtid -t ip
	quiet lttng enable-event -u -s "$1" -c big 'lttng_ust_statedump:*,lttng_ust_lib:*'
	check "${*:2}: $1" "$SPI_LTTNG" enable-event --spi --tree=work "${@:2}" -s "$1" -c big
	quiet lttng start "$1"
}

# calls NAME FUNCTION - how many of them were recorded
calls() {
	local address
	address=$(nm fork-known | awk -v f="$2" '$3 == f && sub("^0*", "", $1) { print $1 }')
	awk -F '\t' -v a="fork-known+0x$address" '{ sub(".*/", "", $2) } $2 == a { print $1 }' "$1.counts"
}

for kind in "" --compact; do
	rm -rf go end ./*.trace
	# shellcheck disable=SC2086  # none or one
	session first $kind
	LTTNG_UST_REGISTER_TIMEOUT=-1 background ./fork-known
	# shellcheck disable=SC2086
	session second --depth 30 $kind
	touch go
	check "$kind: the child ends, and the program goes on" spi_wait 20 file_has "$SPI_TMP/target.out" 'child 7'
	"$SPI_LTTNG" list --spi >status 2>&1
	touch end
	finish "$target"
	for name in first second; do
		quiet lttng destroy $name
		TREE_COMPACT=1 tree_balanced "$name.trace" "$kind: $name: balanced" --counts "$name.counts"
	done
	is "$(calls first known) $(calls first direct)" "10 10" "$kind: the first tree has all calls" || diag "$(cat first.counts)"
	known=$(calls second known) direct=$(calls second direct)
	lost=$(sed -nE 's/.*calls lost: ([0-9]+).*/\1/p' status | awk '{ n += $1 } END { print n + 0 }')
	[ $((${known:-0} + ${direct:-0} + lost)) -ge 10 ]
	ok $? "$kind: what the second has not is counted" || diag "$known $direct $lost" "$(cat status)"
done
tap_done
