#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The summary counts what the trace has, however a process ended: a child that
# executes another program, SIGKILL, children that share the parent's counters, and
# exit() while other threads are in traced calls, which have their exits then.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc ends ends.c

# same NAME DIR - the summary's entries and exits are the trace's
same() {
	local counted
	spi_read "$2"
	counted="$(grep -acE ' spi:[a-z_]*_entry: ' "$2.txt") entries, $(grep -acE ' spi:[a-z_]*_exit: ' "$2.txt") exits"
	like "$(cat trace.err)" "\\($counted\\)" "$1: the summary counts what the trace has"
}

spi_trace -f 't_*' -o exec ./ends exec 1000 >out
is "$?, $(cat out)" "0, status 0" "a child that executes another program"
is "$(spi_count exec t_work_exit)" 1000 "its calls"
same "a child that executes another program" exec
unlike "$(cat trace.err)" 'not returned' "all its calls had returned"

spi_trace -f 't_*' -o killed ./ends killed 777
is $? 137 "a program that gets SIGKILL"
spi_read killed
like "$(cat trace.err)" '777 entries, 777 exits' "SIGKILL: every call is counted"

spi_trace -f 't_*' -o open ./ends open 5
is $? 0 "exit() while threads are in traced calls"
same "exit() while threads are in calls" open
unlike "$(cat trace.err)" 'not returned' "exit() while threads are in calls: all have their exits"
balanced open "each in its own thread"
spi_trace -f 't_*' -o hung ./ends hung 5
is $? 137 "SIGKILL while threads are in traced calls"
like "$(cat trace.err)" 'not returned at the end: 5' "the summary says how many had not returned"

spi_trace -f 't_*' -o forks ./ends forks 40
is $? 0 "many children"
is "$(spi_count forks t_work_entry)" 40 "many children: their calls"
same "many children" forks
tap_done
