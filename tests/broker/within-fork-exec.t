#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program that a traced one has executed registers while a forked child of the same parent waits within fork(): it is not
# taken for one that waits there, too, and is traced from its first call.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup
spi_cc parent "$SPI_PROGRAMS/within-fork.c" -O2 -Wl,--no-as-needed -llttng-ust

# connected N - so many connections more than before have come to the daemon, which is stopped
connections() { grep -c lttng-ust-sock- /proc/net/unix; }
connected() { [ "$(connections)" -ge $((before + $1)) ]; }
children() { [ "$(pgrep -c -P "$app_pid")" -ge 2 ]; }

# meet PROGRAM WHAT - the program, executed while a child is forked
meet() {
	local out=${1//[.\/]/}
	record "s$out" 'spi:in_child_entry' 'spi:add_entry'
	app_start "p$out" ./parent
	check "the program that forks and executes is traced" spi_wait 10 status_like "^applied.$app_pid.in_child.*active"
	before=$(connections)
	kill -STOP "$daemon"
	echo "$1 6" >&"$app_in"
	check "what it executes, $2, comes to the daemon first" spi_wait 10 connected 1
	echo >&"$app_in"
	spi_wait 10 children
	check "then the child, within fork()" spi_wait 10 connected 2
	kill -CONT "$daemon"
	exec {app_in}>&-
	wait "$app_pid"
	is "$?/$(grep ended "p$out.out")" "0/ended 0" "they end as ever"
	unlike "$(status)" "first calls may be missing" "nothing began too early"
	recorded "s$out"
	is "$(spi_count "$SPI_TMP/s$out" add_entry)" 6 "the calls of what was executed are recorded from the first"
	is "$(spi_count "$SPI_TMP/s$out" in_child_entry)" 3 "and the child's"
}

meet ./app "by another name"
mkdir same
cp app same/parent
meet same/parent "by the same name"
tap_done
