#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# fork() waits for nobody: its child does, with its first call that is to be recorded. While the daemon is stopped that is
# where the child stands; when the daemon goes on the calls are recorded from the first.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup
spi_cc within-no "$SPI_PROGRAMS/within-fork.c" -O2
spi_cc within-yes "$SPI_PROGRAMS/within-fork.c" -O2 -Wl,--no-as-needed -llttng-ust

for linked in no yes; do
	record "$linked" "spi:call(in_child;exec=within-$linked)" 'spi:in_child_entry'
	app_start "$linked" "./within-$linked"
	check "$linked: the program that forks is traced" spi_wait 10 status_like "^applied.$app_pid.in_child.*active"
	kill -STOP "$daemon"
	echo >&"$app_in"
	check "$linked: fork() returns at once" spi_wait 10 file_has "$linked.out" '^returned'
	kill -CONT "$daemon"
	spi_wait 20 file_has "$linked.out" '^ended'
	is "$(grep ended "$linked.out")" "ended 0" "$linked: it ends as ever"
	exec {app_in}>&-
	wait "$app_pid"
	recorded "$linked"
	is "$(spi_count "$SPI_TMP/$linked" in_child_entry)" 3 "$linked: its calls are recorded"
	# that a busy machine did not hold it at its start is no matter here: it waits until it is traced
	unlike "$(status | grep -v "could be stopped at its start")" "first calls may be missing" "$linked: and nothing else is said"
done
tap_done
