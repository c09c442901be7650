#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 60
#
# A process whose first thread ends before the others ends with the last of its
# own threads, though the tracer has some of its own; output and status as without.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc last last-thread.c

# same NAME MODE OPTION...
same() { spi_trace_same "$1" "t-$tap_count" "./last $2" "${@:3}"; }
same "main() ends by pthread_exit()" exit -f t_work
same "its last thread calls nothing that is traced" idle -f t_work
same "a child that a thread has forked" fork -f t_work
same "as a call tree" exit --tree
same "as a compact call tree, a child" fork --tree --compact

# attached MODE STATUS OUTPUT - the same, and then so does the front end
attached() {
	local front
	rm -rf go attached
	background ./last "$1"
	timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f t_work -p "$target" -o attached >/dev/null 2>trace.err </dev/null &
	front=$!
	spi_wait 20 sh -c 'lttng list -u | grep -q t_work_entry'
	touch go
	spi_wait 20 eval '! kill -0 $target 2>/dev/null'
	ok $? "attached, $1: it ends"
	kill -KILL "$target" 2>/dev/null
	wait "$target"
	is $? "$2" "attached, $1: status"
	wait "$front"
	is $? 0 "and so does the front end"
	is "$(tr '\n' ' ' <target.out)" "$3" "attached, $1: output"
}
attached wait 0 "ready worker atexit "
attached raw 7 "ready worker "
attached raw-alone 7 "ready "
tap_done
