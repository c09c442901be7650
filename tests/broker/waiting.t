#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 60
#
# A session's tree is switched off, and on again, while threads are within its calls:
# each entry has its exit, once.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
tree_tools
spi_cc waiting "$SPI_TOP_SRCDIR/tests/programs/waiting.c" -O1 -pthread -Wl,--no-as-needed -llttng-ust
spi_sessiond
asleep() { [ "$(cat /proc/"$pid"/task/*/wchan | grep -c nanosleep)" -ge 4 ]; }
is_active() { spi_status | grep -P "^applied\t$pid\t" | grep -q active; }
is_off() { ! is_active; }
for kind in "" --compact; do
	rm -f go end
	quiet lttng create s -o "$PWD/t$kind"
	quiet "$SPI_LTTNG" enable-event --spi --tree=outer $kind --lib waiting -s s
	quiet lttng start s
	./waiting go end >out &
	pid=$!
	check "${kind:-plain}: in force" spi_wait 20 is_active
	touch go
	spi_wait 10 asleep
	quiet "$SPI_LTTNG" disable-event --spi --tree=outer $kind --lib waiting -s s
	check "${kind:-plain}: it is off" spi_wait 10 is_off
	[ "$kind" ] || quiet "$SPI_LTTNG" enable-event --spi --tree=outer $kind --lib waiting -s s
	touch end
	wait "$pid"
	is "$? $(cat out)" "0 10" "${kind:-plain}: the program ends as ever"
	quiet lttng destroy s
	TREE_COMPACT=${kind:+1} tree_balanced "t$kind" "${kind:-plain}: each entry has its exit" --counts counts
	[ -s counts ] && grep -q waiting counts
	ok $? "${kind:-plain}: its calls are recorded" || diag "$(cat quiet.log)"
done
tap_done
