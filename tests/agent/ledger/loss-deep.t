#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A thread whose ring fills up while 100 000 calls return: their exits are written
# when there is room again, and what it calls after that is recorded.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc deep deep.c -fno-optimize-sibling-calls
ulimit -s 200000 2>/dev/null || skip_all "needs a stack of 200 MB"

{
	lttng create s -o "$PWD/t"
	lttng enable-channel -u c --subbuf-size 128k --num-subbuf 2 --discard
	lttng add-context -u -c c -t vpid -t vtid
	lttng enable-event -u -c c 'spi:*'
	lttng start
} >lttng.log 2>&1
background "${SPI_ALONE[@]}" LTTNG_SPI_RULES='d_down;d_later' ./deep 100000
spi_wait 20 file_has target.out bottom
consumers=$(pgrep -x lttng-consumerd)
# shellcheck disable=SC2086
kill -STOP $consumers
touch go
spi_wait 20 file_has target.out up
ok $? "it goes on where nobody reads its ring"
# written BYTES - so much has gone from the ring into the trace
written() { [ "$(find t -name 'c_*' -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }')" -ge "$1" ]; }
until_now=$(find t -name 'c_*' -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }')
# shellcheck disable=SC2086
kill -CONT $consumers
spi_wait 20 written $((until_now + 2 * 131072))
ok $? "there is room in it again"
touch go2
wait "$target"
is $? 0 "its status"
is "$(tail -n 1 target.out)" 100500 "its output"
{ lttng stop && lttng destroy; } >>lttng.log 2>&1
entries=$(spi_count t d_down_entry)
[ "$entries" -gt 66000 ]
ok $? "more than 65 535 calls were recorded: $entries"
balanced t "each has its exit"
# The exits fill the ring over and over, and who empties it may be late on a busy machine: then one call or another finds it full.
later=$(spi_count t d_later_entry)
[ "$later" -ge 400 ] && [ "$later" -le 500 ]
ok $? "and so are the later calls, while these are written: $later of 500"
tap_done
