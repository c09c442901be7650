#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A tree is switched off while threads are in calls of it that do not return: these get their exits, each in its
# thread, before nothing is recorded any more. Where another rule of the session goes on they stay open, and return; one of
# another session has them to their end. The program is as ever.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree.sh"
spi_private "$@"
tree_tools
gcc -g -O1 -fno-optimize-sibling-calls -pthread -o cut "$SPI_PROGRAMS/cut.c" 2>cc.log || { diag "$(cat cc.log)"; echo "Bail out! cut.c"; exit 1; }
broker_daemon
app_start cut ./cut
go() { went=$(grep -c went cut.out); echo "${1:-go}" >&"$app_in"; spi_wait 10 eval '[ "$(grep -c went cut.out)" -gt "$went" ]'; }
active() { [ "$(status applied | grep -Ec -- "$1.*active")" = 1 ]; }
gone() { ! status applied | grep -E -- "$1.*active" >/dev/null; }
rule() { "$SPI_LTTNG" "$1" --spi --tree=c_outer --lib cut --exec cut -s "$2" -c calls "${@:3}" >rule.log 2>&1 || diag "$(cat rule.log)"; }
session() {
	lttng_ok create "$1" --output="$SPI_TMP/$1"
	lttng_ok enable-channel -u -s "$1" calls --subbuf-size 1M --num-subbuf 4
	lttng_ok add-context -u -s "$1" -c calls -t vpid -t vtid -t ip
	rule enable-event "$1" "${@:2}"
	lttng_ok start "$1"
}
calls_of() { awk -F'\t' -v f="+0x$(nm cut | awk -v n="$1" '$3 == n { print $1 }' | sed 's/^0*//')" 'substr($2, length($2) - length(f) + 1) == f { print $1 }' "$2"; }
ended() { go; lttng_ok destroy "$1"; tree_balanced "$SPI_TMP/$1" "$2" --counts "$1.counts"; }

# off while three threads wait: a second time as well, which does not wait for what the first one has closed
session one
spi_wait 20 active 'tree\('
go; go
rule disable-event one
spi_wait 20 gone 'tree\('
rule enable-event one
spi_wait 20 active 'tree\('
go; go
begun=${EPOCHREALTIME/./}
rule disable-event one
took=$(((${EPOCHREALTIME/./} - begun) / 1000))
spi_wait 20 gone 'tree\('
ended one "off while calls wait: every entry has its exit, in its thread"
waits=$(calls_of c_wait one.counts)
[ "${waits:-0}" -ge 9 ]
ok $? "calls that waited were recorded" || diag "$(cat one.counts)"
spi_soon "$took" 1000 "switched off within a second"

# another rule of the session records them, too
session two
spi_wait 20 active 'tree\('
rule enable-event two --depth 2
spi_wait 20 active 'depth=2'
go
rule disable-event two
go
rule disable-event two --depth 2
ended two "another rule of the session goes on: every entry has its exit"

# and one of another session
session three
session four --exclude c_leaf
spi_wait 20 active 'exclude'
go
rule disable-event three
go; go
rule disable-event four --exclude c_leaf
ended three "another session goes on: every entry has its exit"
lttng_ok destroy four
tree_balanced "$SPI_TMP/four" "and in that one" --counts four.counts
[ "$(calls_of c_wait four.counts)" -gt "$(calls_of c_wait three.counts)" ]
ok $? "which has more of them" || diag "$(cat three.counts four.counts)"

go end
wait "$app_pid"
is "$? $(tail -n 1 cut.out)" "7 done" "the program ends as ever"
tap_done
