#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""
Whatever can be said to the sockets, said. What is right by itself is mixed with
what is nearly so and with noise, since noise alone ends at the first check.

  fuzz.py agents SECONDS SEED            the agent socket, as agents
  fuzz.py status SECONDS SEED            the status socket
  fuzz.py apps SECONDS SEED              the application socket, as applications of lttng-ust
  fuzz.py plugin SECONDS SEED BROKER DIR as the plugin: start BROKER again and again; DIR is its run directory.
                                         Fails when one ends otherwise than with status 0 or 1, or not at all
As a program without arguments it is a broker for the plugin: descriptor 3 gets what no broker says.
"""
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time

RUN = "/run/lttng/"
rng = random.Random()
end = 0.0


def clock():
    return time.monotonic()


def noise(most):
    return rng.randbytes(rng.randrange(most))


def number():
    return rng.choice([0, 1, 2, 7, 64, 255, 4096, 0x7fffffff, 0x80000000, 0xffffffff, rng.getrandbits(32)])


def signed(value):
    return value - (1 << 32) if value >= 1 << 31 else value


def words():
    return rng.choice([b"main", b"app_*", b"*", b"/bin/true", b"/proc/self/exe", b"..", b"%n%s", b"a" * 5000,
                       b"\xff\xfe", b"\x1b[2J", b"[" * 300, b"", b"libc.so.6:malloc", b"\n" * 50, b"--pattern", b"-"])


def damaged(data):
    """Now and then a few bytes of it otherwise, or more, or fewer."""
    data = bytearray(data)
    what = rng.random()
    if what < .1 and data:
        for _ in range(rng.randrange(1, 9)):
            data[rng.randrange(len(data))] = rng.getrandbits(8)
    elif what < .15:
        data = data[:rng.randrange(len(data) + 1)]
    elif what < .2:
        data += noise(rng.choice([9, 300, 20000]))
    return bytes(data)


def descriptors():
    """Some that may come along; the caller closes them."""
    what = rng.random()
    if what < .6:
        return []
    if what < .9:
        fd = os.memfd_create("x", os.MFD_ALLOW_SEALING)
        os.ftruncate(fd, rng.choice([0, 100, 256, 4096, 5000, 300000]))
        os.pwrite(fd, struct.pack("II", 0x54415453, 1) + noise(248), 0)
        if rng.random() < .6:
            import fcntl
            fcntl.fcntl(fd, 1033, rng.randrange(16))
        return [fd]
    return [os.open("/dev/null", os.O_RDWR) for _ in range(rng.randrange(1, 40))]


def send_with(s, data, fds):
    try:
        s.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("%di" % len(fds), *fds))] if fds else [],
                  socket.MSG_DONTWAIT)
    except OSError:
        pass
    for fd in fds:
        os.close(fd)


# ---- agents ----------------------------------------------------------------------

def agent_packet(first):
    kind = 1 if first else rng.choice([1, 2, 2, 3, 4, 5, 6, 7, 64, 67, 99, 0, 65535])
    if kind == 1:
        pid = rng.choice([os.getpid(), 1, os.getppid()])
        body = struct.pack("iIQ", pid, rng.choice([0, 1, 2, 3, 255]), number()) + words() + b"\0"
    elif kind == 2:
        path = rng.choice([os.readlink("/proc/self/exe").encode(), words()])
        body = struct.pack("QQ32sIIII", number(), number(), noise(33), rng.choice([0, 20, 32, 33, 255]), number(),
                           rng.randrange(4), 0) + path + b"\0" + \
            b"\n".join(words() for _ in range(rng.randrange(5))) + b"\0"
    elif kind == 3:
        body = rng.choice([b"liblttng-ust.so.1", b"libgcc_s.so.1", b"daemon-home", words()]) + b"\0"
    elif kind == 4:
        body = struct.pack("IiIIII", number(), signed(number()), number(), number(), number(), number()) + \
            words() + b"\0"
    elif kind == 5:
        body = b"".join(words() + b"\t" + words() + b"\t" + words() + b"\n" for _ in range(rng.randrange(200))) + b"\0"
    else:
        body = noise(3000)
    return damaged(struct.pack("IHHII", 0x31495053, 3, kind, number(), len(body)) + body)


def answer_rules(s):
    """Answer some of what came, rightly or nearly."""
    try:
        while select.select([s], [], [], 0)[0]:
            data, fds, _, _ = socket.recv_fds(s, 65536, 8)
            for fd in fds:
                os.close(fd)
            if len(data) < 20:
                return
            kind, rule = struct.unpack("H", data[6:8])[0], data[16:20]
            if 67 <= kind <= 70 and rng.random() < .8:
                body = rule + struct.pack("iIIII", rng.choice([0, 0, -2, -17, 5]), number(), 1, 1, 0) + words() + b"\0"
                send_with(s, struct.pack("IHHII", 0x31495053, 3, 4, 1, len(body)) + body, [])
    except OSError:
        pass


def agents():
    open_ones = []
    while clock() < end:
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            s.connect(RUN + "spi-agent")
        except OSError:
            time.sleep(0.01)
            continue
        for i in range(rng.choice([1, 3, 12])):
            send_with(s, agent_packet(i == 0), descriptors())
            answer_rules(s)
        open_ones.append(s)
        while len(open_ones) > rng.choice([0, 5, 30]):
            open_ones.pop(rng.randrange(len(open_ones))).close()
        yield


def status():
    open_ones = []
    while clock() < end:
        s = socket.socket(socket.AF_UNIX)
        try:
            s.connect(RUN + "spi-status")
            if rng.random() < .5:
                s.send(noise(70000) or b"x", socket.MSG_DONTWAIT)
            if rng.random() < .3:
                s.recv(rng.choice([1, 100, 65536]))
        except OSError:
            pass
        open_ones.append(s)
        while len(open_ones) > rng.choice([0, 20]):
            open_ones.pop(0).close()
        time.sleep(0.002)
        yield


# ---- applications ---------------------------------------------------------------------

def registration():
    """The stock daemon (2.13) ends by itself at a width of long that is neither 32 nor 64: so much stays right."""
    message = struct.pack("IIIIIIII5II16s64s", rng.choice([0xC57C57C5, 0xC57C57C5, number()]),
                          rng.choice([9, 9, 9, number()]), number(),
                          rng.choice([os.getpid(), os.getppid(), 1, number()]), number(), number(), number(), 0, 8, 16, 32, 64, 64,
                          rng.choice([0, 0, 1, 1, number()]), noise(17), b"")
    message = damaged(message)
    return message[:28] + struct.pack("I", rng.choice([64, 64, 32])) + message[32:] if len(message) >= 32 else message


def apps():
    path = next(RUN + name for name in os.listdir(RUN) if name.startswith("lttng-ust-sock-"))
    open_ones = []
    while clock() < end:
        pid = os.fork() if rng.random() < .2 else -1	# who has gone when it is looked at
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(0.5)
        try:
            s.connect(path)
            send_with(s, registration() if rng.random() < .9 else noise(5000), descriptors())
            if rng.random() < .3:
                s.send(noise(300) or b"x", socket.MSG_DONTWAIT)
        except OSError:
            pass
        if pid == 0:
            os._exit(0)
        open_ones.append(s)
        while len(open_ones) > rng.choice([0, 8]):
            open_ones.pop(rng.randrange(len(open_ones))).close()
        if pid > 0:
            os.waitpid(pid, 0)
        time.sleep(0.003)
        yield


# ---- the plugin and its broker -----------------------------------------------------------

def broker_message(kind, body):
    return struct.pack("IHHII", 0x42495053, 2, kind, len(body), 0) + body


def greeting(directory):
    client, app = (directory + "/client-lttng-sessiond").encode(), (directory + "/lttng-ust-sock-8").encode()
    return struct.pack("iIQ108s108sII", os.getppid(), os.geteuid(), 0, client, app, rng.randrange(2), 0)


def plugin_message(sleepers, directory):
    kind = rng.choice([1, 2, 2, 3, 3, 3, 4, 5, 6, 7, 9, 0, 64, 65, 66, 99])
    fds = []
    if kind == 1:
        body = greeting(directory)
    elif kind in (2, 3):
        pid = rng.choice([sleepers[rng.randrange(len(sleepers))].pid, os.getpid(), 1, 0, -1, signed(number())])
        body = struct.pack("QiIIII20sQ", number(), pid, rng.choice([0, 1, number()]), number(),
                           rng.choice([32, 64, number()]), number(), noise(21), number())
        try:
            fds = [os.pidfd_open(pid)] if rng.random() < .9 else descriptors()
        except OSError:
            fds = descriptors()
    elif kind == 4:
        body = struct.pack("Q", number())
    elif kind == 5:
        body = struct.pack("iI", signed(number()), rng.randrange(2)) + b"spi:" + words() + b"\0"
    elif kind == 9:
        body = struct.pack("iII20s", rng.choice([sleepers[0].pid, signed(number())]), number(), number(), noise(21))
    elif kind == 7:
        body = struct.pack("II", rng.choice([0, 1, 2001, number()]), 0)
    else:
        body = noise(rng.choice([9, 400, 16384]))
    return broker_message(kind, body), fds


def plugin(broker, directory):
    os.makedirs(directory, exist_ok=True)
    sleepers = [subprocess.Popen(["sleep", "1000"]) for _ in range(4)]
    lives = 0
    try:
        while clock() < end:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

            def arrange():
                os.dup2(theirs.fileno(), 3)

            process = subprocess.Popen([broker], preexec_fn=arrange, close_fds=True, pass_fds=(3,))
            theirs.close()
            if rng.random() < .9:
                send_with(ours, broker_message(1, greeting(directory)), [])
            for _ in range(rng.choice([0, 3, 30, 300])):
                message, fds = plugin_message(sleepers, directory)
                send_with(ours, message if rng.random() < .97 else damaged(message), fds)
                if select.select([ours], [], [], rng.choice([0, 0, 0, 0.01]))[0]:
                    try:
                        if not ours.recv(20000):
                            break
                    except ConnectionResetError:
                        break
            ours.close()
            lives += 1
            if process.wait(timeout=30) not in (0, 1):
                sys.exit("spi-broker ended with %d" % process.returncode)
            yield
    finally:
        for sleeper in sleepers:
            sleeper.kill()
    print(lives, "brokers")


def broker():
    """What no broker says to its plugin; sometimes it works as one for a while."""
    rng.seed()
    s = socket.socket(fileno=3)
    held = []
    while True:
        if select.select([s], [], [], rng.choice([0, 0.001, 0.05]))[0]:
            data, fds, _, _ = socket.recv_fds(s, 20000, 4)
            for fd in fds:
                os.close(fd)
            if not data:
                return
            if len(data) >= 24 and data[6] == 3:
                held.append(data[16:24])
        kind = rng.choice([64] * 6 + [65] * 4 + [66, 67, 1, 0, 99])
        if kind == 64:
            body = held.pop() if held and rng.random() < .9 else struct.pack("Q", number())
        elif kind == 65:
            count = rng.choice([0, 1, 3, 256])
            body = struct.pack("QII", number(), count if rng.random() < .97 else number(), 0) + b"".join(
                struct.pack("Ii24s", rng.choice([0, 0xffffffff, number()]), rng.choice([0, 0, signed(number())]),
                            rng.choice([b"", b"app", noise(25)])) for _ in range(count))
        else:
            body = struct.pack("iI", signed(number()), 0)
        message = broker_message(kind, body)
        if rng.random() < .01:
            message = damaged(message)
        if kind < 64 and rng.random() < .7:
            continue
        send_with(s, message, descriptors() if rng.random() < .02 else [])
        if rng.random() < .001:
            os.kill(os.getpid(), 9)


if len(sys.argv) == 1:
    broker()
else:
    rng.seed(int(sys.argv[3]))
    end = clock() + float(sys.argv[2])
    rounds = sum(1 for _ in globals()[sys.argv[1]](*sys.argv[4:]))
    print(sys.argv[1], rounds)
