#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 60
#
# A function that is the root of two sessions' trees is called below another root of one of them: there it is one call like others,
# recorded once, and the tree goes on when it is over; the other session's tree begins and ends with it.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree.sh"
spi_private "$@"
tree_tools
cat >nested.c <<'C'
__attribute__((noipa)) int leaf(int a) { return a + 1; }
__attribute__((noipa)) int again(int n) { return leaf(n) + leaf(n + 1); }
__attribute__((noipa)) int root_inner(int n) { return leaf(n) + leaf(n + 2); }
__attribute__((noipa)) int root_outer(int n)
{
	int x = leaf(n);

	x += root_inner(x);
	x += again(x);
	return leaf(x) + root_inner(x) + leaf(x);
}
int main(void)
{
	int sum = root_outer(1);

	sum += again(sum);
	sum += root_inner(sum);
	return sum + leaf(sum) == 0;
}
C
spi_cc nested nested.c -O1 -Wl,--no-as-needed -llttng-ust
spi_sessiond

# calls DIR - how often each function was called
calls() {
	local function at

	for function in root_outer root_inner again leaf; do
		at=/nested+0x$(nm nested | awk -v f=$function '$3 == f && sub("^0*", "", $1) { print $1 }')
		awk -F '\t' -v a="$at" -v f=$function \
			'substr($2, length($2) - length(a) + 1) == a { n = $1 } END { printf "%s %d, ", f, n }' counts
	done
}
for compact in "" --compact; do
	for s in both inner; do
		quiet lttng create $s -o "$PWD/$s$compact"
		quiet lttng add-context -u -s $s -t vpid -t vtid -t ip
		quiet lttng enable-event -u -s $s 'lttng_ust_statedump:*,lttng_ust_lib:*'
	done
	# shellcheck disable=SC2086  # empty or one word
	quiet "$SPI_LTTNG" enable-event --spi -s both '--tree=root_*' $compact
	# shellcheck disable=SC2086
	quiet "$SPI_LTTNG" enable-event --spi -s inner --tree=root_inner $compact
	quiet lttng start both
	quiet lttng start inner
	./nested 2>err
	is "$?/$(cat err)" 0/ "${compact:-plain}: it runs as ever"
	for s in both inner; do
		quiet lttng destroy $s
		TREE_COMPACT=$compact tree_balanced $s$compact "${compact:-plain}, $s: balanced" --counts counts
		calls >got.$s
	done
	is "$(cat got.both)" "root_outer 1, root_inner 3, again 1, leaf 11, " "${compact:-plain}: all that is below one of the two"
	is "$(cat got.inner)" "root_outer 0, root_inner 3, again 0, leaf 6, " "${compact:-plain}: what is below the one"
done
tap_done
