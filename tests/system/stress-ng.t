#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 600
# soak-timeout: 1800
#
# stressors that fork, take signals and switch contexts: each ends as untraced, under rules for functions and as a tree.
. "${SPI_TOP_SRCDIR:?}/tests/lib/servers.sh"
spi_private "$@"
needs stress-ng
spi_daemon
for how in fork vfork vforkmany clone alarm sigsegv sigtrap context pthread daemon zombie; do
	for form in '-f libc.so.6:getpid' --tree '--tree --compact'; do
		rm -rf t
		timeout -k 5 "$(spi_scaled 60)" "$SPI_LTTNG" trace $form -o t stress-ng --"$how" 1 --"$how"-ops 100 -t 20 --temp-path "$PWD" \
			>out 2>err </dev/null
		is $? 0 "$how, $form: its status" || diag "$(grep -v '^$' out err | tail -n 5)"
		unlike "$(cat out err)" 'stress-ng: (error|fail)|terminated on signal|crashed' "$how, $form: nothing went wrong" || diag "$(tail -n 5 out err)"
	done
done
tap_done
