#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
# timeout: 120
#
# A function that a rule traces by name, and that is a call tree's root, or calls
# from its first instructions: each session has all that its rule asks for, whichever
# came first, and loses nothing when the other comes and goes.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
tree_tools
spi_cc named "$SPI_TOP_SRCDIR/tests/programs/named-root.c" -O1 -pthread -Wl,--no-as-needed -llttng-ust
spi_sessiond

# Both at once, before main()
for kind in "" " --compact"; do
	for root in early again usual; do
		t=t$root${kind// /}
		read -ra options <<<"-f $root --tree=$root$kind"
		"$SPI_LTTNG" trace "${options[@]}" -o "$t" ./named >out 2>err
		is $? 0 "-f $root --tree=$root$kind: status" || diag "$(cat err)"
		like "$(cat err)" 'not instrumented: 0' "-f $root --tree=$root$kind: both are instrumented" || diag "$(cat err)"
		is "$(spi_count "$t" "${root}_entry") $(spi_count "$t" "${root}_exit")" "100 100" "-f $root --tree=$root$kind: the function's events"
		TREE_COMPACT=1 tree_balanced "$t" "-f $root --tree=$root$kind: balanced" --counts counts
		is "$(awk -v f="named+0x$(nm named | awk -v f="$root" '$3 == f { sub("^0*", "", $1); print $1 }')" -F '\t' 'index($2, f) { print $1 }' counts)" \
			100 "-f $root --tree=$root$kind: the tree's root"
	done
done
"$SPI_LTTNG" trace -f early -f again --tree -o whole ./named >out 2>err
is $? 0 "within a whole tree: status"
tree_balanced whole "within a whole tree: balanced" --counts counts
is "$(awk -v f="named+0x$(nm named | awk '$3 == "leaf" { sub("^0*", "", $1); print $1 }')" -F '\t' 'index($2, f) { print $1 }' counts)" \
	300 "within a whole tree: what is called from moved instructions"

# In a running process, while the other comes and goes
rounds=${SPI_SOAK:+40} rounds=${rounds:-3}
traced() { spi_status | grep -P "^applied\t$pid\t" | grep -c "$1"; }
is_active() { [ "$(traced "$1.*active")" -gt 0 ]; }
is_gone() { [ "$(traced "$1.*active")" = 0 ]; }
text_is_original() { python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$pid" >/dev/null 2>&1; }
# keeps STAYS COMES EVENT RULE RULE [EACH] - the rule STAYS, told as RULE, misses none of its EACH events EVENT (a pattern of
# grep's) a call while COMES comes and goes
keeps() {
	local stays=$1 comes=$2 event=$3 one=$4 other=$5 each=${6:-1} total
	rm -rf end look "stay.$event" "come.$event"
	quiet lttng create stay -o "$PWD/stay.$event"
	quiet lttng create come -o "$PWD/come.$event"
	quiet lttng enable-channel -u -s stay --num-subbuf 16 --subbuf-size 1M big
	quiet lttng enable-channel -u -s come --num-subbuf 16 --subbuf-size 1M big
	# shellcheck disable=SC2086  # several words
	quiet "$SPI_LTTNG" enable-event --spi $stays -s stay -c big
	quiet lttng start stay
	./named end look >"$event.out" &
	pid=$!
	check "$stays: in force" spi_wait 20 is_active "$one"
	# shellcheck disable=SC2086
	for ((i = 0; i < rounds; i++)); do
		quiet "$SPI_LTTNG" enable-event --spi $comes -s come -c big
		[ "$i" -gt 0 ] || quiet lttng start come
		spi_wait 10 is_active "$other" || diag "round $i: does not come"
		quiet "$SPI_LTTNG" disable-event --spi $comes -s come -c big
		spi_wait 10 is_gone "$other" || diag "round $i: does not go"
	done
	touch end
	spi_wait 20 test -s "$event.out"
	total=$(cat "$event.out")
	quiet lttng destroy come
	quiet lttng destroy stay
	babeltrace2 "stay.$event" 2>lost >stay.txt
	is "$(grep -ac ":$event:" stay.txt)" $((total * each)) "$stays misses nothing while $comes comes and goes" ||
		diag "$(head -c 300 lost; spi_status | grep -a 'may be missing')"
	is "$(grep -c discarded lost)" 0 "$stays: nothing was discarded"
	check "$comes: recorded meanwhile" grep -q . <(babeltrace2 "come.$event" 2>/dev/null | grep -a "func_entry\|early_entry\|short_.*_entry")
	check "the functions' code is what it was" spi_wait 10 text_is_original || python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$pid"
	touch look
	wait "$pid"
}
keeps "-f early" "--tree=early" early_entry early 'tree(early'
keeps "-f again" "--tree=usual" again_entry again 'tree(usual'
keeps "-f short_*" "--tree=short_*" 'short_[0-9]*_entry' 'short_' 'tree(short_' 24
keeps "--tree=early" "-f early" func_entry 'tree(early' $'\tearly' 2

# Call sites that are in place where an entry comes, which moves them. What would be missed is missed when it comes first.
rounds=1
for ((k = 0; k < ${SPI_SOAK:+20}+1; k++)); do
	keeps "--tree=usual" "-f early" func_entry 'tree(usual' $'\tearly' 6
	keeps "--tree=usual" "--tree=early" func_entry 'tree(usual' 'tree(early' 6
done
tap_done
