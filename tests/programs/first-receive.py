#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""first-receive.py KIND TRIES LOGS CLIENT... - servers that a client's message brings in while others send to them.

CLIENT is the command line that starts `first-receive client PATH`, traced. Each try has a server of its own. Older bytes are queued on the channel that
the client then gets and sends its message over, and others send over that (datagrams) or over channels of their own all the time. A server's log
is LOGS/PID. Prints how many tries there were, and how many of their servers ended well.
"""
import array
import os
import random
import socket
import subprocess
import sys
import threading

KIND, TRIES, LOGS, CLIENT = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
PROGRAM = os.path.abspath('first-receive')
DATAGRAMS = KIND in ('udp', 'unixgram')


def filler(most):
    return bytes(random.choice(b'abcdefgh \n') for _ in range(random.randint(1, most)))


def pair():
    """(the server's end, the sender's)"""
    if KIND == 'pipe':
        return os.pipe()
    if KIND == 'unix':
        a, b = socket.socketpair()
    elif KIND == 'tcp':
        with socket.create_server(('127.0.0.1', 0)) as listening:
            b = socket.create_connection(listening.getsockname())
            a = listening.accept()[0]
    else:
        a, b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        a.bind(('127.0.0.1', 0))
        b.connect(a.getsockname())
    return a.detach(), b.detach()


def crowd(fd, ended):
    try:
        while not ended.wait(random.uniform(0, 0.02)):
            os.write(fd, filler(200))
    except OSError:
        pass    # the server has ended
    os.close(fd)


def attempt(to_client):
    ends = [pair() for _ in range(1 if DATAGRAMS else 4)]
    others = [os.dup(ends[0][1]) for _ in range(3)] if DATAGRAMS else [sender for _, sender in ends[1:]]
    for fd in (ends[0][1], *others):
        os.set_blocking(fd, not DATAGRAMS and fd == ends[0][1])
    delay = random.choice((0, 0, 100, 300, 600))
    server = subprocess.Popen(['sh', '-c', f'exec {PROGRAM} server {LOGS}/$$ "$@"', 'sh', str(delay), *(str(end) for end, _ in ends)],
                              pass_fds=[end for end, _ in ends])
    for end, _ in ends:
        os.close(end)
    for _ in range(random.randint(1, 10)):
        os.write(ends[0][1], filler(400))
    while not os.path.exists(f'{LOGS}/{server.pid}') and server.poll() is None:     # one that is being executed is refused, and named
        threading.Event().wait(0.002)
    ended = threading.Event()
    threads = [threading.Thread(target=crowd, args=(fd, ended)) for fd in others]
    for thread in threads:
        thread.start()
    message = b'<%d %d' % (server.pid, random.getrandbits(60)) + filler(800)
    to_client.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [ends[0][1]]))])
    os.close(ends[0][1])
    try:
        status = server.wait(60)
    except subprocess.TimeoutExpired:
        server.kill()
        status = server.wait()
    ended.set()
    for thread in threads:
        thread.join()
    return status == 0


def main():
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind('first-receive.socket')
        listening.listen()
        client = subprocess.Popen([*CLIENT, 'client', os.path.abspath('first-receive.socket')], stdin=subprocess.DEVNULL)
        to_client = listening.accept()[0]
    good = sum(attempt(to_client) for _ in range(TRIES))
    to_client.close()
    status = client.wait()
    os.unlink('first-receive.socket')
    print(TRIES, good, status)


main()
