#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# soak-timeout: 900
# Whatever is said to the sockets that everybody may connect to, the broker goes on.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
export ASAN_OPTIONS=quarantine_size_mb=4:malloc_context_size=12	# what has been freed counts as memory otherwise
broker_setup
broker=$(pgrep -x spi-broker | head -n 1)
open_files() { ls "/proc/$broker/fd" | wc -l; }
memory() { awk '/^VmRSS/ { print $2 }' "/proc/$broker/status"; }
record s 'spi:add_entry' 'spi:tree(add;ipc=tcp+unix)'
./app 1
spi_wait 10 none_runs
before=$(open_files)
size=$(memory)
cat >fuzz.py <<'P'
import os, random, socket, struct, sys, time
random.seed(7)
end = time.time() + float(sys.argv[1])
count = 0

def packet(kind):
    body = os.urandom(random.choice([0, 4, 16, 40, 300, 3000]))
    if kind == 1 and random.random() < .8:
        body = struct.pack("iIQ", random.choice([os.getpid(), 1]), random.randrange(4), 0) + b"/bin/x\0"
    if kind == 2 and random.random() < .8:
        body = os.urandom(48) + struct.pack("IIII", 20, 0, random.randrange(2), 0) + b"/bin/true\0main\n*\0"
    if kind == 4:
        body = struct.pack("IiIIII", random.randrange(9), 0, 1, 1, 0, 0) + body
    if kind == 14:
        body = struct.pack("II", random.randrange(2), random.randrange(18)) + os.urandom(72) + \
            struct.pack("II", random.randrange(7), 0) + os.urandom(24 + 48) + b"/tmp/x".ljust(112, b"\0")
    if kind == 15:
        body = struct.pack("iI", random.randrange(-200, 200), 0)
    if kind == 5:
        body = b"a\tb\tc\n" * random.randrange(500) + body
    size = random.choice([len(body)] * 9 + [7])
    return struct.pack("IHHII", 0x31495053, 3, kind, random.randrange(4), size) + body

children = []

def child(parent):
    """The connection of a child that is about to be forked, or what may be taken for one; perhaps it says something."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, random.choice([socket.SOCK_SEQPACKET] * 4 + [socket.SOCK_STREAM]))
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, random.randrange(2))
    given = random.choice([theirs.fileno()] * 9 + [parent.fileno(), 0])
    try:
        parent.sendmsg([packet(13)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", given))])
        for kind in random.choice([[], [1], [1, 2, 4, 13], [7, 1]]):
            ours.setblocking(False)
            ours.sendmsg([packet(kind)])
    except OSError:
        pass
    theirs.close()
    children.append(ours)

while time.time() < end:
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("/run/lttng/spi-agent")
    for i in range(random.randrange(1, 8)):
        fds = []
        if random.random() < .3:
            fds = [os.memfd_create("x", os.MFD_ALLOW_SEALING)]
            os.ftruncate(fds[0], random.choice([0, 10, 256, 5000]))
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", fds[0]))] if fds else []
        try:
            s.sendmsg([packet(1 if i == 0 else random.choice([1, 2, 3, 4, 5, 6, 7, 14, 15, 64, 99]))], rights)
        except OSError:
            pass
        for fd in fds:
            os.close(fd)
        if random.random() < .3:
            child(s)
    s.close()
    while len(children) > random.randrange(300):
        children.pop(random.randrange(len(children))).close()
    count += 1
    if count % 50 == 0:
        c = socket.socket(socket.AF_UNIX)
        c.connect("/run/lttng/spi-status")
        c.close()
print(count)
P
check "anything at all is said" python3 fuzz.py "$([ -n "${SPI_SOAK:-}" ] && echo 600 || echo 4)"
check "and over" spi_wait 30 eval '[ "$(open_files)" -le "$before" ]'
is "$(pgrep -x spi-broker | head -n 1)" "$broker" "the broker is the same"
[ "$(memory)" -le $((size + 8192)) ]
ok $? "and no larger" || diag "$size kB before, $(memory) kB after"
./app 4
recorded s
is "$(spi_count "$SPI_TMP/s" add_entry)" 5 "and does its work"
tap_done
