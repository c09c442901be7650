#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Who gets which event: several sessions and channels, sessions that start and
# stop between an entry and its exit, only exits enabled, filters, captures,
# ends of calls other than returns, threads, forks.
. "$SPI_TOP_SRCDIR/tests/lib/tp.sh"
spi_private "$@"
tp_program sessions
spi_daemon
program_start ./sessions

session first 'spi:work_*'
step open 3
session second 'spi:work_*'
step call 10 0
step deep 5
step close 1
step call 5 100
step call 7 200
step close 2
a=$(events first)
is "$(balance "$a")" "30 30 open 0" "a session that saw everything"
step call 3 300
b=$(events second)
is "$(balance "$b")" "30 30 open 0" "a session that began inside calls has only exits whose entries it has"
session exits spi:work_exit
for ((until = SECONDS + 3; SECONDS <= until;)); do step call 1 200; done	# exits alone are recorded after 2 s
c=$(events exits)
like "$(count "$c" work_entry) $(count "$c" work_exit)" '^0 [1-9]' "a channel with exits alone gets them"

session stopping 'spi:work_*'
step open 2
lttng -q stop stopping
step call 4 0
step close 1
lttng -q start stopping
step call 4 10
step close 1
s=$(events stopping)
is "$(count "$s" work_entry) $(grep -o 'ret = [0-9]*' <<<"$s" | tr -d '\n')" \
	"6 ret = 1010ret = 1011ret = 1012ret = 1013ret = 1000" "stopped and started between an entry and its exit: the missed exit is missing, no other is"

NO_START=1 session two 'spi:work_entry'
lttng -q enable-channel -u -s two other
lttng -q enable-event -u -s two -c other 'spi:work_*'
lttng -q add-context -u -s two -c other -t vpid -t vtid
lttng -q start two
step call 6 0
t=$(events two)
is "$(count "$t" work_entry) $(count "$t" work_exit)" "12 6" "two channels of one session: entries in both, exits where they are wanted"

FILTER='a >= 3 && s == "yes*"' session filtered spi:work_entry
step call 6 0 yes
step call 6 0 no
f=$(events filtered)
is "$(count "$f" work_entry) $(count "$f" 'a = [345], s = "yes"')" "3 3" "filter on integer and string"
# shellcheck disable=SC2016
for filter in 'd > 1.4' 'f >= 0.75' 'c == "D" || c == "E" || c == "F"' 'u == 65535 && a > 2' 'v[0] > 2 && v[1] < -2 && v[2] == 7' '$ctx.vpid > 0 && a > 2'; do
	FILTER=$filter session filtered spi:work_entry
	step call 6 0
	f=$(events filtered)
	is "$(count "$f" work_entry)" 3 "filter: $filter"
	[ "$(count "$f" work_entry)" = 3 ] || diag "$f"
done
FILTER='duration > 100000000000 || a == 2' session filtered spi:task
step one 5 0
f=$(events filtered)
is "$(count "$f" 'spi:task.*a = 2, .*duration = [0-9]+')" 1 "filter on a one-event record and its duration"
is "$(count "$f" spi:task)" 1 "... takes nothing else"

CHANNEL=--num-subbuf=4 session left 'spi:*' spi_call:left
step open 2
step left 1 2
step left 1 1
step openone 2
step left 2 3
l=$(events left)
is "$(count "$l" 'spi_call:left.*address = 0x400000, how = \( "longjmp" : container = 2 \)')" 1 "a call left by longjmp says so"
is "$(count "$l" 'spi_call:left.*how = \( "unwound"')" 1 "one left by an exception too"
is "$(count "$l" 'work_exit: .*ret = 0')" 2 "their exits are made up, with zero"
is "$(count "$l" 'task: .*ret = 0, duration = [0-9]+, left = \( "thread_end"')" 2 "one-event records say how they were left"

session thread 'spi:work_*'
step thread 50
is "$(balance "$(events thread)")" "52 52 open 0" "a thread that ends with calls open"

session fork 'spi:work_*'
step open 2
step fork 20
step close 2
k=$(events fork)
is "$(balance "$k")" "22 22 open 0" "a child's calls are recorded, and not the exits of calls that the parent made"
is "$(grep -o 'vpid = [0-9]*' <<<"$k" | sort -u | wc -l)" 2 "with its own vpid"

session generic 'lttng_ust_cyg_profile:*' 'spi:alone*'
step generic 4
step alone 3
g=$(events generic)
is "$(count "$g" 'func_entry: .*addr = 0x400030, call_site = 0x1234') $(count "$g" 'func_exit: .*addr = 0x400030, call_site = 0x1234')" \
	"4 4" "generic events carry the address and the call site"
is "$(count "$g" alone_entry) $(count "$g" alone_exit)" "3 0" "a point without slots has entries alone"

lttng -q add-trigger --name t1 --condition event-rule-matches --type=user --name=spi:work_entry \
	--filter 's == "cap*"' --capture a --capture s --capture c --capture d --capture 'v[1]' --capture v --action notify
gcc -o notifications "$SPI_TOP_SRCDIR/tests/programs/notifications.c" -llttng-ctl || fail "notifications compiles"
./notifications 2 >notes &
listener=$!
spi_wait 10 file_has notes listening
step call 1 3 capture
step call 1 4 other
step call 1 5 captured
wait "$listener"
is "$(grep '^t1' notes)" 't1: u:3 "capture" "D" f:1.5 s:-3 [ u:3 s:-3 u:7 ]
t1: u:5 "captured" "F" f:2.5 s:-5 [ u:5 s:-5 u:7 ]' "a trigger's captures"
program_end
ok $? "the program ends well"
tap_done
