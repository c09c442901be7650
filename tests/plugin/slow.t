#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A table that is slow to come is waited for, for a second at most; not so when a
# client's command hangs, which may be what keeps it from coming.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
plugin_daemon "none slow-table=600 silent"
record s
spi_wait 5 log_counts ^DIRTY 3
client=$(sed -n 's/^DAEMON .* client=\([^ ]*\) .*/\1/p' broker.log)
: >broker.log
lttng list >list.out 2>&1
./app 10
is "$(count_log ^HELD)/$(count_log ^EXPIRED)" 1/0 "held until the table came"

: >broker.log
mkfifo hanging
python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
print("hangs", flush=True)
sys.stdin.read()' "$client" <hanging >client.out &
exec {hold}>hanging
spi_wait 5 file_has client.out hangs
./app 10
is "$(count_log ^HELD)/$(count_log ^EXPIRED)" 1/1 "not for a command that hangs"
exec {hold}>&-
is "$(recorded s)" 20 "every event"
tap_done
