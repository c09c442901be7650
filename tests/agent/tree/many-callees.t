#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 180
#
# A site whose callees are made all the time takes no more memory for ever, and leaves room for those of others. Where functions
# are too many, too, each call of one that is not recorded counts as lost, its sites are named with the reason, and what
# such a function calls is recorded all the same.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_compact
tree_cc many-callees many-callees.c -O1 -fno-optimize-sibling-calls

# traced NAME SITES OPTION... - traced compact, as without; a function's calls are in `counts`, what is told in trace.err
traced() {
	local name=$1 sites=$2
	shift 2
	./many-callees "$sites" >plain.out 2>/dev/null
	rm -rf "$SPI_TMP/t"
	timeout $((100 * SPI_PATIENCE)) "$SPI_LTTNG" trace --tree --compact "$@" --subbuf-size 16M --num-subbuf 8 -o "$SPI_TMP/t" \
		./many-callees "$sites" >traced.out 2>trace.err
	is $? 0 "$name: status" || diag "$(tail -3 trace.err)"
	check "$name: output" file_has traced.out "^$(cat plain.out)$"
	tree_balanced "$SPI_TMP/t" "$name: balanced" --counts counts
	more=$(sed -n 's/^more: \(.*\) kB$/\1/p' trace.err)
	[ "${more:-99999}" -lt 20000 ]
	ok $? "$name: made callees take no memory the second time" || diag "$more kB"
	calls=$(awk '/many-callees\+/ { n += $1 } END { print n + 0 }' counts)
	leaves=$(awk -v leaf="$leaf" '$2 ~ "many-callees[+]" leaf "$" { print $1 }' counts)
	is "$leaves" "$(sed -n 's/leaves //p' plain.out)" "$name: all that the functions call is there"
}
leaf=0x$(nm many-callees | sed -nE 's/^0*([0-9a-f]+) t leaf$/\1/p')

traced 'made callees' 1
is "$calls" $((5 + 3 * 1001)) "made callees: and what is called behind them"
file_has trace.err 'lost: 0$'
ok $? "made callees: nothing counts as lost" || diag "$(grep lost trace.err)"

traced 'many functions' 600
lost=$(sed -n 's/^Lost calls: \([0-9]*\).*/\1/p' trace.err)
more=$((calls + ${lost:-0} - 5 - 3 * 600001))
[ "$more" -ge 0 ] && [ "$more" -lt 100 ]		# printf() in libc calls by pointers, too
ok $? "many functions: a call is recorded, or counts as lost" || diag "$calls recorded, $lost lost: $more too many"
[ "${lost:-0}" -gt 10000 ]
ok $? "many functions: some are lost" || diag "$lost"
check "many functions: the sites are named with the reason" file_has trace.err \
	'too many different functions are called through pointers: calls of further ones are not recorded' || diag "$(head -n 20 trace.err)"
tap_done
