#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A rule that goes, and comes again, before an agent has said what became of it the first time: the first answer is not taken
# for the second's, and the program that waits is let go when all are there. The agent is played here.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup
cat >agent.py <<'P'
import os, select, socket, struct, sys
RULE_DONE = 4
NAMES = {67: "add", 68: "remove", 72: "go"}
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect("/run/lttng/spi-agent")

def send(kind, body):
    s.send(struct.pack("<IHHII", 0x31495053, 3, kind, 0, len(body)) + body)

print("ready", flush=True)
os.read(0, 1)
send(1, struct.pack("<iIQ", os.getpid(), 1, 0) + b"/played\0\0")
told = []
# each line has the next rule answered that it was told of
while True:
    ready = select.select([s, sys.stdin], [], [])[0]
    if sys.stdin in ready:
        if not os.read(0, 1):
            break
        send(RULE_DONE, struct.pack("<IiIIII", told.pop(0), 0, 1, 1, 0, 0) + b"\0")
    if s in ready:
        packet = s.recv(65536)
        if not packet:
            break
        kind = struct.unpack_from("<IHHII", packet)[2]
        if kind in NAMES:
            print(NAMES[kind], flush=True)
        if kind in (67, 68):
            told.append(struct.unpack_from("<I", packet, 16)[0])
P

said() { [ "$(grep -v ready a.out | xargs)" = "$1" ]; }
app_start a python3 agent.py
record stays spi:other_entry
record s spi:nothing_entry
echo >&"$app_in"
check "the agent is told of two rules" spi_wait 10 said "add add" || diag "$(cat a.out a.err)"
lttng_ok destroy s
check "that one goes" spi_wait 10 said "add add remove" || diag "$(cat a.out a.err)"
record t spi:nothing_entry
check "and that it comes again" spi_wait 10 said "add add remove add" || diag "$(cat a.out a.err)"
echo >&"$app_in"
echo >&"$app_in"
is_active() { status_like "^applied.$app_pid.other.active"; }
check "the first answers come" spi_wait 10 is_active
like "$(status applied "$app_pid" nothing)" "adding" "the one to before is not the one to this"
is "$(grep -c go a.out)" 0 "the program waits on"
echo >&"$app_in"
echo >&"$app_in"
check "when all are there it goes on" spi_wait 10 file_has a.out go || diag "$(cat a.out a.err)"
like "$(status applied "$app_pid" nothing)" "active" "and has its rule"
exec {app_in}>&-
wait "$app_pid"
tap_done
