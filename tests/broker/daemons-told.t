#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# Daemons that fork twice at once, where the kernel tells of processes: in the first network and pid namespaces.
is_told=1
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root"; exit 0; }
. "${SPI_TOP_SRCDIR:?}/tests/lib/daemons.sh"
spi_sessiond
for us in 0 0 0 300 1000 20000; do
	daemon "$us"
done
daemon 0 65534
most_are_whole 7
for us in 0 1000 0 1000; do
	a_new_daemon "$us"
done
if grep -q 'the kernel refuses its process events' list; then
	skip "the kernel refuses its process events here"
else
	ok 0 "the kernel tells of processes"
fi
tap_done
