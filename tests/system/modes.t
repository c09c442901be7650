#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The sockets and files of root's daemon have the owners and modes that doc/security.md says, and there are no others.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
[ "$(id -u)" = 0 ] || skip_all "needs to be root"
spi_private "$@"
[ "${SPI_OUTER_UID:-0}" = 0 ] || skip_all "needs several users: root"
spi_app
spi_sessiond
quiet lttng create s -o "$PWD/s"
quiet lttng enable-event -u -s s 'spi:app_first_entry'
quiet lttng start s
timeout 20 ./app 1 >/dev/null
group=$(stat -c %G /run/lttng/client-lttng-sessiond)
while IFS='|' read -r _ path owner mode _; do
	path=${path// /} owner=${owner// /} mode=${mode// /}
	[[ $path == /run/lttng/* ]] || continue
	[ "$owner" != root:tracing ] || owner=root:$group	# where there is no such group it is root's
	is "$(stat -c '%U:%G %a' "$path")" "$owner $mode" "$path"
done <"$SPI_TOP_SRCDIR/doc/security.md"
for path in /run/lttng/spi-*; do
	grep -qF "| $path |" "$SPI_TOP_SRCDIR/doc/security.md"
	ok $? "$path is named"
done
tap_done
