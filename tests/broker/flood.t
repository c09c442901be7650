#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 90
#
# Agents that tell without end of what is not instrumented, and of busy functions, as many and as small lines as a
# packet may have: others are answered all the same, another user's programs begin as ever, and the broker does not grow.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup
cat >flood.py <<'P'
"""flood.py AGENTS KIND LINE LINES [FIRST LINES]: for two seconds; prints how many packets each got rid of"""
import os, socket, struct, sys, time

def packet(kind, body):
    return struct.pack("IHHII", 0x31495053, 3, kind, 0, len(body)) + body

def lines(line, n):
    return "".join(line % ((i,) * line.count("%d")) for i in range(n)).encode()

agents, kind, line, n = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode().decode("unicode_escape"), int(sys.argv[4])
flood = packet(kind, lines(line, n))

def talk():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("/run/lttng/spi-agent")
    s.send(packet(1, struct.pack("iIQ", os.getpid(), 1, 0) + b"/bin/x\0"))
    if sys.argv[5:]:
        s.send(packet(kind, lines(sys.argv[5].encode().decode("unicode_escape"), int(sys.argv[6]))))
    end = time.monotonic() + 2
    sent = 0
    try:
        while time.monotonic() < end:
            s.send(flood)
            sent += 1
            if sent == 1:
                open("flooding", "w")
        print(sent)
    except (BrokenPipeError, ConnectionResetError):
        print("closed")

for i in range(agents):
    if not os.fork():
        talk()
        sys.stdout.flush()
        os._exit(0)
for i in range(agents):
    os.wait()
P
cat >ask.py <<'P'
"""how long an answer took, at most, within one second; ms"""
import socket, time
worst, end = 0, time.monotonic() + 1
while time.monotonic() < end:
    began = time.monotonic()
    s = socket.socket(socket.AF_UNIX)
    s.connect("/run/lttng/spi-status")
    while s.recv(65536):
        pass
    worst = max(worst, time.monotonic() - began)
    time.sleep(.01)
print(int(worst * 1000) + 1)
P
starts() { python3 "$SPI_TOP_SRCDIR/tests/lib/starts.py" "$1" 2002 ./app 1; }
memory() { awk '/^RssAnon/ { print $2 }' "/proc/$broker/status"; }
broker=$(pgrep -x -o spi-broker)
chmod 755 .
record s 'spi:add_entry'
read -r usual _ < <(starts 1)
# flood WHAT ARGS... - while they do, an answer takes so long, at most: $ms
flood() {
	local what=$1 job
	shift
	rm -f flooding
	python3 flood.py "$@" >sent & job=$!
	spi_wait 10 test -e flooding
	ms=$(python3 ask.py)
	read -r p99 worst count failed < <(starts 1)
	wait "$job"
	[ "${ms:-0}" -gt 0 ]
	ok $? "$what: others are answered meanwhile" || diag "sent $(tr '\n' ' ' <sent)"
	spi_soon "${ms:-99999}" 500 "$what: soon"
	spi_soon $((${p99:-99999} - usual)) 500 "$what: the start of 99 of 100 of another user's programs ($count of them), ms beyond the usual $usual"
	[ "${failed:-1}" = 0 ] && [ "$((${worst:-99999} - usual))" -lt 3000 ] && [ "$(memory)" -lt 65536 ]
	ok $? "$what: another user's programs begin, and the broker has less than 64 MB" || diag "$worst ms, $failed failed, $(memory) kB"
}
for agents in 1 8; do
	flood "$agents with other functions each time" "$agents" 5 '\t\t%d\n' 1500
	flood "$agents with the same functions" "$agents" 5 '\t\t199\n' 1500 '\t\t%d\n' 200
	flood "$agents with busy functions" "$agents" 8 '%d\t\t%d\n' 1500
done
flood "one with more lines than there may be" 1 5 '\t\t\n' 1501
is "$(cat sent)" closed "and it is not heard any more"
tap_done
