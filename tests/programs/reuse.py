#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""
Process ids that come to mean somebody else. As root, in a pid namespace of its own.

  reuse.py UID OTHER RUNDIR PROGRAM [ARGUMENT]...
      A process of UID registers as an application, makes a connection to the agent
      socket, leaves both to a child, and ends. PROGRAM is run by OTHER under its id.
      Then the child speaks, in the name of that id. Prints "pid PID" and what it is
      answered ("RULE_ADD", "MAP", "closed", "nothing"), and waits for PROGRAM.
  reuse.py exec UID RUNDIR MS PROGRAM [ARGUMENT]...
      A process of UID registers, waits MS milliseconds, and becomes PROGRAM.
  reuse.py claim UID RUNDIR PID
      A process of UID registers with the id of another one in its message.
"""
import os
import select
import socket
import struct
import sys


def message(kind, pid, uid):
    return struct.pack("IIIIIIII5II16s64s", 0xC57C57C5, 9, 0, pid, os.getppid(), uid, uid, 64, 8, 16, 32, 64, 64, kind,
                       b"liar", b"")


def register(rundir, pid, uid):
    """Both sockets of an application; they are kept open by whoever has the result."""
    path = next(rundir + "/" + name for name in os.listdir(rundir) if name.startswith("lttng-ust-sock-"))
    sockets = []
    for kind in 0, 1:
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
        s.send(message(kind, pid, uid))
        s.set_inheritable(True)
        sockets.append(s)
    return sockets


def become(uid):
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def packet(kind, body):
    return struct.pack("IHHII", 0x31495053, 3, kind, 1, len(body)) + body


def speak(s, pid, out):
    """In the name of the process that has the id now."""
    heard = []
    try:
        s.send(packet(1, struct.pack("iIQ", pid, 1, 0) + b"/bin/x\0"))
        s.send(packet(2, struct.pack("QQ32sIIII", 0, 0, b"", 0, 0, 1, 0) + b"/proc/self/exe\0*\0"))
        while select.select([s], [], [], 2)[0]:
            data, fds, _, _ = socket.recv_fds(s, 65536, 4)
            if len(data) < 16:
                heard.append("closed")
                break
            kind = struct.unpack("H", data[6:8])[0]
            heard.append({64: "WELCOME", 65: "MAP" if fds else "no-map", 67: "RULE_ADD"}.get(kind, str(kind)))
    except OSError:
        heard.append("closed")
    os.write(out, (" ".join(heard) or "nothing").encode())


def first(uid, rundir, gone, out):
    """Registers, connects, leaves a child behind, ends."""
    become(uid)
    kept = register(rundir, os.getpid(), uid)
    agent = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    agent.connect(rundir + "/spi-agent")
    pid = os.getpid()
    if os.fork() == 0:
        os.read(gone, 1)
        speak(agent, pid, out)
        del kept
    os._exit(0)


def reuse(uid, other, rundir, *program):
    gone, go = os.pipe()
    heard, out = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(go)
        first(int(uid), rundir, gone, out)
    os.close(out)
    os.waitpid(pid, 0)
    for _ in range(200):
        with open("/proc/sys/kernel/ns_last_pid", "w") as file:
            file.write(str(pid - 1))
        successor = os.fork()
        if successor == 0:
            if os.getpid() != pid:
                os._exit(0)
            become(int(other))
            os.execv(program[0], program)
        if successor == pid:
            break
        os.waitpid(successor, 0)
    else:
        sys.exit("the id is not to be had")
    print("pid", pid, flush=True)
    os.close(go)
    print(os.read(heard, 4096).decode(), flush=True)
    os.waitpid(pid, 0)


def exec_after(uid, rundir, ms, *program):
    become(int(uid))
    kept = register(rundir, os.getpid(), int(uid))
    select.select([], [], [], float(ms) / 1000)
    os.execv(program[0], program)	# with the sockets


def claim(uid, rundir, pid):
    become(int(uid))
    kept = register(rundir, int(pid), 0)
    while select.select(kept, [], [], 1)[0]:
        if not all(s.recv(4096) for s in kept[:1]):
            break


if sys.argv[1] == "exec":
    exec_after(*sys.argv[2:])
elif sys.argv[1] == "claim":
    claim(*sys.argv[2:])
else:
    reuse(*sys.argv[1:])
