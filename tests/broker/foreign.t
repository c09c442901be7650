#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# Descriptors that anybody sends to the broker of root, and whose end takes as long as he likes: a socket that lingers. The broker goes on as if nothing had come. It stands still while they are sent, so that what
# it has is the last of them.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
[ "$(id -u)" = 0 ] || skip_all "needs several users: root"
spi_private "$@"
spi_app
spi_sessiond
broker=$(pgrep -x -o spi-broker)
quiet lttng create s -o "$PWD/s"
quiet lttng enable-event -u -s s 'spi:app_*'
quiet lttng start s
applied() { spi_status | grep -P "^applied\t$1\t[^\t]*\tactive"; }
answers() { timeout 3 python3 -c '
import socket
s = socket.socket(socket.AF_UNIX)
s.connect("/run/lttng/spi-status")
while s.recv(65536):
	pass'; }
answered() { grep -q '^sent' "$1"; }
descriptors() { find "/proc/$broker/fd" -mindepth 1 | wc -l; }
few() { [ "$(descriptors)" -le $((fds + 2)) ]; }
no_child_left() { ! pgrep -P "$broker" -r D,Z; }
./app busy stop >/dev/null & witness=$!
check "a program is traced" spi_wait 15 applied "$witness"
fds=$(descriptors)
chmod 755 .
mkfifo go
for what in first hello page unread child inside status; do
	kill -STOP "$broker"
	: >"$what.out"
	(cd / && exec setpriv --reuid 2001 --regid 2001 --clear-groups timeout 30 /usr/bin/python3 \
		"$SPI_PROGRAMS/foreign.py" /run/lttng "$what") \
		<go >"$what.out" 2>&1 & job=$!
	exec {go}>go
	spi_wait 10 answered "$what.out"
	kill -CONT "$broker"
	answers && timeout 10 ./app 1 >/dev/null && answers && grep -q '^sent' "$what.out"
	ok $? "$what: nobody waits for its sender" || diag "$(cat "$what.out" "/proc/$broker/stack")"
	exec {go}>&-
	wait "$job"
done
check "nothing of it stays" spi_wait 10 few || diag "$(descriptors) descriptors; $fds before"
check "nor a child" spi_wait 10 no_child_left || diag "$(ps -eo pid,ppid,stat,wchan:20,args)"
is "$(pgrep -x -o spi-broker)" "$broker" "the broker is the same"
check "the program is traced still" applied "$witness"
quiet lttng destroy s
touch stop
wait "$witness"
tap_done
