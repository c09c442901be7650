#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The live view is its user's alone: another user's relay daemon on the usual ports gets nothing of root's trace, and another
# user who connects to our relay daemon is told nothing and tells it nothing.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root"; exit 0; }
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c
export TMPDIR=$PWD/tmp && mkdir tmp && chmod 711 .
as_other() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

# Another user's relay daemon, where one usually is.
mkdir taken && chown 65534:65534 taken
as_other env HOME="$PWD/taken" LTTNG_HOME="$PWD/taken" lttng-relayd -d -o "$PWD/taken" >/dev/null 2>&1
spi_wait 10 sh -c 'ss -ltn | grep -q ":5344 "'
relayd=$(pgrep -u 65534 lttng-relayd)
spi_trace -f t_leaf ./zoo leaf 10 >trace.out
is "$?/$(grep -ac ' spi:t_leaf_entry: ' trace.out)" 0/10 "beside another user's relay daemon: all events printed" || diag "$(cat trace.err)"
is "$(find taken -name metadata | wc -l)" 0 "and none of them is that user's"
kill "$relayd" && spi_wait 20 pid_gone "$relayd"

# Our own relay daemon, and what a viewer asks first: the protocol's version and the sessions.
cat >ask.py <<'P'
import socket, struct, sys
def ask(port):
    s = socket.create_connection(("127.0.0.1", port), 5)
    s.settimeout(5)
    try:
        s.sendall(struct.pack(">QII", 20, 1, 0) + struct.pack(">QIII", 0, 2, 4, 1))
        return len(s.recv(100))
    except ConnectionError:
        return 0
print(*[ask(int(port)) for port in sys.argv[1:]])
P
chmod 644 ask.py
mkfifo hold
"$SPI_LTTNG" trace -f t_leaf sh -c 'read _ <hold; exec ./zoo leaf 500' >live.out 2>live.err & tracer=$!
spi_wait 30 file_has live.err 'Trace directory'
live=$(sed -n 's/.*live port \([0-9]*\).*/\1/p' live.err)
mapfile -t ports < <(ss -ltnp | sed -n 's/.*127.0.0.1:\([0-9]*\) .*relayd.*/\1/p' | sort -u)
is "${#ports[@]}" 3 "our relay daemon has three ports"
is "$(python3 ask.py "$live")" 20 "its user is answered"
is "$(as_other /usr/bin/python3 ask.py "${ports[@]}")" "0 0 0" "another user is not, on any port"
for _ in $(seq 50); do as_other /usr/bin/python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5).close()' "$live"; done
echo go >hold
wait "$tracer"
is "$?/$(grep -ac ' spi:t_leaf_entry: ' live.out)" 0/500 "nothing of the trace is lost by those attempts" || diag "$(tail -n 5 live.err)"

printf '#!/bin/sh\nunset LD_PRELOAD\nexec %s "$@"\n' "$(command -v lttng-relayd)" >bare && chmod +x bare
LTTNG_RELAYD_PATH=$PWD/bare spi_trace -f t_leaf ./zoo leaf 10 >trace.out
is "$?/$(cat trace.out)" 1/ "a relay daemon that keeps nobody out: nothing is started"
like "$(cat trace.err)" 'other users could read the trace' "and that is said"
tap_done
