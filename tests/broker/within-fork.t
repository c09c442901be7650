#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A forked child that a rule names is met while it waits within fork() for the daemon, which is stopped here. Nothing
# looks for a safe moment there, for which its registration would wait in turn: when the daemon goes on fork() returns,
# and the calls are recorded from the first.
. "${SPI_TOP_SRCDIR:?}/tests/broker/lib.sh"
spi_private "$@"
broker_setup
spi_cc within-no "$BROKER_TESTS/within-fork.c" -O2
spi_cc within-yes "$BROKER_TESTS/within-fork.c" -O2 -Wl,--no-as-needed -llttng-ust

children() { pgrep -P "$app_pid"; }
for linked in no yes; do
	record "$linked" "spi:call(in_child;exec=within-$linked)" 'spi:in_child_entry'
	app_start "$linked" "./within-$linked"
	check "$linked: the program that forks is traced" spi_wait 10 status_like "^applied.$app_pid.in_child.*active"
	kill -STOP "$daemon"
	echo >&"$app_in"
	spi_wait 10 children
	check "$linked: its child is met within fork()" spi_wait 10 status_like "^process.$(children)."
	like "$(status process "$(children)")" 'forked by a traced program' "$linked: and left alone there"
	go_on=$((${EPOCHREALTIME/./} / 1000))
	kill -CONT "$daemon"
	spi_wait 20 file_has "$linked.out" '^ended'
	took=$(($(awk '/^returned/ { print $2 }' "$linked.out") - go_on))
	[ "$took" -lt "$(spi_scaled 800)" ]
	ok $? "$linked: fork() returns when the daemon goes on" || diag "after $took ms"
	is "$(grep ended "$linked.out")" "ended 0" "$linked: it ends as ever"
	exec {app_in}>&-
	wait "$app_pid"
	recorded "$linked"
	is "$(spi_count "$SPI_TMP/$linked" in_child_entry)" 3 "$linked: its calls are recorded"
	unlike "$(status)" "first calls may be missing" "$linked: and nothing else is said"
done
tap_done
