#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Call trees as rules of a session: in programs linked with lttng-ust from main() on,
# in others by name and while they run; changed, switched off and on; two sessions
# with trees of one process that do not mix.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree-names.sh"
spi_private "$@"
spi_cc app "$SPI_TOP_SRCDIR/tests/programs/tree-program.c" -Wl,--no-as-needed -llttng-ust
spi_cc plain "$SPI_TOP_SRCDIR/tests/programs/tree-program.c"
broker_daemon

# tree SESSION ARGS... - `enable-event --spi ARGS` in a new session with room for calls, started
tree() {
	local session=$1
	shift
	lttng_ok create "$session" --output="$SPI_TMP/$session"
	lttng_ok enable-channel -u -s "$session" calls --subbuf-size 1M --num-subbuf 4
	"$SPI_LTTNG" enable-event --spi "$@" -s "$session" -c calls >tree.log 2>&1 || { diag "$(cat tree.log)"; return 1; }
	lttng_ok start "$session"
}
# calls SESSION OBJECT - destroy it: FUNCTION=ENTRIES/EXITS of this object's functions
calls() {
	lttng_ok destroy "$1"
	tree_read "$SPI_TMP/$1" && tree_calls "$SPI_TMP/$1.names" "$2"
}
text_is_original() { python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$1"; }

# From main()'s first call on.
check "a rule before the program runs" tree one --tree=main --lib app
./app 4 >out
is "$?/$(cat out)" 3/45 "a program that registers: as without"
is "$(calls one app)" "branch=4/4 leaf=12/12 main=1/1 middle=4/4 top=1/1 " "all its calls"
like "$(grep -m1 'func = "top' one.names)" 'vpid = [0-9]+, vtid = [0-9]+, ip = ' "with the contexts"

# A program that knows nothing of LTTng, running and by name.
app_start a ./plain 4 wait
a=$app_pid in=$app_in
app_call "$in" 1 a.out
check "a rule while the program runs" tree two --tree=top --depth 1 --lib plain --exec plain
check "it is in force" spi_wait 10 status_like "^applied.$a.tree.top;depth=1;lib=plain;tag=[0-9a-f]*.*active"
like "$(status rule two)" 'call tree of top, 1 deep, in plain, in processes named plain' "the rule in words"
app_call "$in" 3 a.out
check "another session's tree of the same process" tree three --tree=middle --lib plain --pid "$a"
check "it is in force, too" spi_wait 10 status_like "^applied.$a.tree.middle;lib=plain;tag=[0-9a-f]*.*active"
app_call "$in" 2 a.out
# Another depth: within a second, nothing lost.
"$SPI_LTTNG" enable-event --spi --tree=top --lib plain --exec plain -s two -c calls >/dev/null 2>&1
"$SPI_LTTNG" disable-event --spi --tree=top --depth 1 --lib plain --exec plain -s two >/dev/null 2>&1
check "a rule is exchanged for another" spi_wait 1 status_like "^applied.$a.tree.top;lib=plain;tag=[0-9a-f]*.*active"
check "and the former is gone" spi_wait 1 status_unlike "^applied.$a.tree.top;depth=1"
app_call "$in" 1 a.out
is "$(calls two plain)" "branch=24/24 leaf=12/12 middle=24/24 top=6/6 " "the first session: one deep, then all"
app_call "$in" 1 a.out
is "$(calls three plain)" "leaf=32/32 middle=16/16 " "the second session: its own tree only"
check "without sessions nothing is left" spi_wait 10 status_like "^process.$a.0.idle"
check "and the code is what it was" text_is_original "$a"
app_call "$in" 1 a.out

# Off and on again.
tree four --tree=branch --exec plain
spi_wait 10 status_like "^applied.$a.tree.branch.*active"
app_call "$in" 1 a.out
"$SPI_LTTNG" disable-event --spi --tree=branch --exec plain -s four >/dev/null 2>&1
check "switched off" spi_wait 5 status_like "^process.$a.0.idle"
check "the code is what it was" text_is_original "$a"
app_call "$in" 1 a.out
"$SPI_LTTNG" enable-event --spi --tree=branch --exec plain -s four -c calls >/dev/null 2>&1
check "on again" spi_wait 5 status_like "^applied.$a.tree.branch.*active"
app_call "$in" 1 a.out
is "$(calls four plain)" "branch=8/8 leaf=8/8 " "what was called while it was on"
exec {in}>&-
wait "$a"
is $? 0 "the program ends as ever"
is "$(sort -u a.out | tr '\n' ' ')" "45 ready " "and did what it always does"

# Packed records, in another process.
app_start b ./plain 4 wait
b=$app_pid in=$app_in
tree five --tree=top --compact --lib plain --exec plain
spi_wait 10 status_like "^applied.$b.tree.top;lib=plain;compact.*active"
entries() { status counts "$b" | cut -f 3; }
before=$(entries)
app_call "$in" 2 b.out
check "packed records are counted as calls, once they are written" spi_wait 5 eval '[ $(entries) = $((before + 42)) ]'
lttng_ok destroy five
tree_read five compact
is "$(tree_calls five.names plain)" "branch=8/8 leaf=24/24 middle=8/8 top=2/2 " "and are the calls that were made"
spi_wait 5 status_like "^process.$b.0.idle"
exec {in}>&-
wait "$b"
is $? 0 "that program ends as ever, too"
tap_done
