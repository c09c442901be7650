#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# timeout: 60
#
# Two compact trees of one process in two channels of one session, in one channel, and in two sessions: batches have
# the calls of both and go to all channels, but a call is shown for the channel that has its tree, and nowhere else.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
spi_daemon
cat >two.c <<'C'
static volatile long sink;
__attribute__((noipa)) long a_leaf(long x) { return x + 1; }
__attribute__((noipa)) long a_root(long x) { return a_leaf(x) + a_leaf(x + 1); }
__attribute__((noipa)) long b_leaf(long x) { return x + 1; }
__attribute__((noipa)) long b_root(long x) { return b_leaf(x) + b_leaf(x + 1) + b_leaf(x + 2); }
int main(void)
{
	for (int i = 0; i < 4000; i++)
		sink += a_root(i) + b_root(i);
	return 0;
}
C
spi_cc two ./two.c -fno-optimize-sibling-calls

# counts NAME - of a_root, a_leaf, b_root, b_leaf: ENTRIES/EXITS
counts() {
	local name at out=
	for name in a_root a_leaf b_root b_leaf; do
		at=$(nm two | awk -v n=$name '$3 == n { print toupper(substr($1, 14)) }')
		out+="$(grep -c "func_entry.*addr = 0x[0-9A-F]*$at," "$1.expanded")/$(grep -c "func_exit.*addr = 0x[0-9A-F]*$at," "$1.expanded") "
	done
	echo "$out"
}
# channel SESSION CHANNEL TAG... - which takes what these trees record
channel() {
	local session=$1 name=$2
	shift 2
	lttng -q enable-channel -u -s "$session" "$name" --subbuf-size=1M --num-subbuf=8 &&
		lttng -q enable-event -u -s "$session" -c "$name" 'spi_tree:*' ${1:+--filter "\$app.spi:rules == \"*|$1|*\""} &&
		lttng -q add-context -u -s "$session" -c "$name" -t vpid -t vtid
}
run() {
	"${SPI_ALONE[@]}" LTTNG_SPI_RULES='tree(a_root;lib=two;compact;tag=aaaa)
tree(b_root;lib=two;compact;tag=bbbb)' ./two
	is $? 0 "the program ends as ever"
}
# shown SESSION COUNTS NAME
shown() {
	expand "$1"
	is "$(counts "$1")" "$2" "$3"
	check "$3: balanced" python3 "$compare" balance "$1.expanded"
	is "$(grep -c missing "$1.warn")" 0 "$3: no batch is said to be missing"
}
a="4000/4000 8000/8000 " b="4000/4000 12000/12000 " none="0/0 0/0 "

lttng -q create both --output="$SPI_TMP/both"
channel both c1 aaaa
channel both c2 bbbb
lttng -q start both
run
lttng -q destroy both
shown both "$a$b" "a channel for each"

lttng -q create part --output="$SPI_TMP/part"
channel part c1 bbbb
lttng -q start part
run
lttng -q destroy part
shown part "$none$b" "a channel for one"

lttng -q create one --output="$SPI_TMP/one"
channel one c1
lttng -q start one
run
lttng -q destroy one
shown one "$a$b" "one channel for both"

for session in first second; do
	lttng -q create "$session" --output="$SPI_TMP/$session"
	channel "$session" c1 "$([ "$session" = first ] && echo aaaa || echo bbbb)"
	lttng -q start "$session"
done
run
lttng -q destroy first
lttng -q destroy second
shown first "$a$none" "two sessions: the first"
shown second "$none$b" "two sessions: the second"
tap_done
