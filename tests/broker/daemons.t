#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Daemons that fork twice at once, in namespaces where the kernel tells of no processes: files that are executed are told of.
. "${SPI_TOP_SRCDIR:?}/tests/lib/daemons.sh"
spi_sessiond
for us in 0 0 0 300 1000 20000; do
	daemon "$us"
done
most_are_whole 6
like "$(cat list)" 'found when their file is opened' "how they are found is said"

# A program that has its file's rights: a tracer without rights would take them away.
cp "$(command -v id)" quick-id
quiet lttng create s -o "$PWD/rights"
quiet lttng enable-channel -u c
for program in quick-id "$name"; do quiet "$SPI_LTTNG" enable-event --spi -c c -f main --exec "$program"; done
quiet lttng start
as_other() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
ids() { as_other bash -c "for _ in 1 2 3; do ./quick-id -u; done; :" | tr '\n' ' '; }	# by a process that its user may trace
is "$(ids)" "65534 65534 65534 " "another user's program, which is held"
chmod 4755 quick-id
is "$(ids)" "0 0 0 " "and with its owner's rights it keeps them"
quiet lttng destroy
tap_done
