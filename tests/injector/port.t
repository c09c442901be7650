#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `spi-inject port` finds every process that has a port open: TCP and UDP, IPv4
# and IPv6, shared by two processes, also in another network namespace.
. "${SPI_TOP_SRCDIR:?}/tests/lib/injector.sh"
spi_private "$@"
prepare

cat >holder.py <<'P'
import os, socket, sys
family, kind, port = sys.argv[1:4]
s = socket.socket(getattr(socket, family), getattr(socket, kind))
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
s.bind(("::1" if family == "AF_INET6" else "127.0.0.1", int(port)))
if kind == "SOCK_STREAM":
    s.listen(1)
open(sys.argv[4], "w").write("%d" % os.getpid())
sys.stdin.read()
P
mkfifo hold
exec {hold}<>hold
# holder FAMILY KIND PORT NAME [COMMAND...] - a process with that port; its pid in file NAME
holder() {
	local args=("$1" "$2" "$3" "$4.pid")
	shift 4
	"$@" python3 holder.py "${args[@]}" <hold >/dev/null 2>&1 &
	spi_wait 10 test -s "${args[3]}"
}
holder AF_INET SOCK_STREAM 5001 tcp
holder AF_INET SOCK_STREAM 5001 tcp2
holder AF_INET6 SOCK_STREAM 5002 tcp6
holder AF_INET SOCK_DGRAM 5003 udp
holder AF_INET6 SOCK_DGRAM 5003 udp6
holder AF_INET SOCK_STREAM 5004 other unshare -n sh -c 'ip link set lo up; exec "$@"' sh

# port_is PORT NAME... - exactly these processes are injected
port_is() {
	local port=$1 expected
	shift
	expected=$(for name; do cat "$name.pid"; echo; done | sort -n | tr '\n' ' ')
	"$inject" port "$port" "$SPI_TMP/libmark.so" >out 2>err
	ok $? "port $port: status 0" || diag "$(cat err)"
	is "$(cut -d' ' -f1 out | tr '\n' ' ')" "$expected" "port $port: held by $*"
}
port_is 5001 tcp tcp2
port_is 5002 tcp6
port_is 5003 udp udp6
port_is 5004 other
is "$(marks)" 6 "the library is in each of them"
kill $(jobs -p)
tap_done
