#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What goes between processes and is not followed is named: urgent data, shared memory, an io_uring. Datagrams that are cut
# say so, and a socket that was not bound is told with its port.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon

cat >others.c <<'C'
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sockaddr_in own;
static socklen_t size = sizeof(own);

static int bound(int type)
{
	int fd = socket(AF_INET, type, 0);

	own = (struct sockaddr_in) { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (bind(fd, (struct sockaddr *) &own, size) || getsockname(fd, (struct sockaddr *) &own, &size))
		return -1;
	return fd;
}

static int urgent(void)
{
	int listens = bound(SOCK_STREAM), out = socket(AF_INET, SOCK_STREAM, 0), in;
	char buffer[10];

	if (listen(listens, 1) || connect(out, (struct sockaddr *) &own, size) || (in = accept(listens, NULL, NULL)) < 0)
		return 1;
	return send(out, "abc", 3, 0) != 3 || recv(in, buffer, 10, 0) != 3 || send(out, "!", 1, MSG_OOB) != 1 ||
		send(out, "def", 3, 0) != 3 || recv(in, buffer, 10, 0) <= 0;
}

static int cut(void)
{
	int in = bound(SOCK_DGRAM), out = socket(AF_INET, SOCK_DGRAM, 0);
	char buffer[10];
	struct iovec part = { buffer, 2 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	for (int i = 0; i < 3; i++)
		if (sendto(out, "hello", 5, 0, (struct sockaddr *) &own, size) != 5)
			return 1;
	return recv(in, buffer, 10, 0) != 5 || recv(in, buffer, 3, MSG_TRUNC) != 5 || recvmsg(in, &message, 0) != 2;
}

static int shared(void)
{
	int fd = shm_open("/others", O_RDWR | O_CREAT, 0600);

	return ftruncate(fd, 4096) || mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED || shm_unlink("/others");
}

static int ring(void)
{
	char parameters[120] = "";

	return syscall(425 /* io_uring_setup */, 4, parameters) < 0 ? 77 : 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	return !strcmp(what, "urgent") ? urgent() : !strcmp(what, "cut") ? cut() : !strcmp(what, "shared") ? shared() : ring();
}
C
spi_cc others ./others.c
TREE_EVENTS='spi_ipc:*'

# run WHAT - the program's status; its messages in ./messages: EVENT RESULT FLAGS
run() {
	rm -rf trace
	tree_record trace 'tree(main;ipc=pipe+unix+tcp+udp)' ./others "$1"
	status=$?
	babeltrace2 trace >text 2>/dev/null
	sed -n 's/.*spi_ipc:\(send\|recv\): .* result = \([0-9]*\), .* flags = 0x\([0-9A-F]*\) .*/\1 \2 \3/p' text >messages
}

run urgent
is "$status $(xargs <messages)" "0 send 3 0 recv 3 0 send 1 4 send 3 4 recv 3 4" "urgent data: from there on no position is known"
like "$(cat tree.debug)" "urgent data \(MSG_OOB\) is not followed" "and that is said"
run cut
is "$status $(xargs <messages)" "0 send 5 1 send 5 1 send 5 1 recv 5 1 recv 5 9 recv 2 9" "datagrams that are cut say so"
like "$(grep 'spi_ipc:channel.*"send"' text)" 'from = "0.0.0.0:[1-9][0-9]*", to = "127.0.0.1:[1-9][0-9]*"' "a port that the first message brings is told"
unlike "$(cat tree.debug)" "messages:" "nothing is named where there is nothing"
run shared
is "$status" 0 "shared memory"
like "$(cat tree.debug)" "has memory that others can share" "is named"
run ring
if [ "$status" = 77 ]; then
	skip "no io_uring here"
else
	like "$(cat tree.debug)" "has an io_uring" "an io_uring is named"
fi
tap_done
