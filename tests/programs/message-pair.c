/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A server and its client over one kind of channel, for tests of messages.
 *
 *	message-pair serve KIND WHERE [fork|trap]	prints "ready" when it can be talked to; ends when a message says "end"
 *	message-pair ask KIND WHERE N [stay]	N questions, each after the answer to the one before; prints the sum of the answers.
 *						Then "end", or nothing
 *
 * KIND: tcp, tcp6, udp, unix, unixgram, seqpacket, fifo; WHERE: a port or a path. A fifo has its answers in WHERE.answer. "fork": a
 * child for each connection. "trap": a handler of SIGTRAP that lets system calls fail. The server's work is handle(), which calls answer_of(); the client's is ask().
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char *kind, *where;
static union {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
} address;
static socklen_t address_size;

static int is_kind(const char *name) { return !strcmp(kind, name); }

static int datagrams(void) { return is_kind("udp") || is_kind("unixgram"); }

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int make(void)
{
	int type = datagrams() ? SOCK_DGRAM : is_kind("seqpacket") ? SOCK_SEQPACKET : SOCK_STREAM;
	int one = 1, fd;

	if (is_kind("tcp6")) {
		address.in6 = (struct sockaddr_in6) { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT,
			.sin6_port = htons((uint16_t) atoi(where)) };
		address_size = sizeof(address.in6);
	} else if (is_kind("tcp") || is_kind("udp")) {
		address.in = (struct sockaddr_in) { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
			.sin_port = htons((uint16_t) atoi(where)) };
		address_size = sizeof(address.in);
	} else {
		address.un.sun_family = AF_UNIX;
		snprintf(address.un.sun_path, sizeof(address.un.sun_path), "%s", where);
		address_size = sizeof(address.un);
	}
	fd = socket(address.any.sa_family, type, 0);
	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	return fd;
}

__attribute__((noipa)) int answer_of(int question) { return question * 2 + 1; }

/* 0: that was the end. */
__attribute__((noipa)) int handle(int fd, int to)
{
	char text[64] = "";
	struct sockaddr_un from;
	socklen_t size = sizeof(from);
	ssize_t n = datagrams() ? recvfrom(fd, text, sizeof(text) - 1, 0, (struct sockaddr *) &from, &size) : read(fd, text, 16);
	int length;

	if (n <= 0)
		return n < 0 || !datagrams() ? -1 : 1;
	if (!strncmp(text, "end", 3))
		return 0;
	length = snprintf(text, sizeof(text), "%-15d\n", answer_of(atoi(text)));
	if (datagrams())
		n = sendto(fd, text, (size_t) length, 0, (struct sockaddr *) &from, size);
	else
		n = write(to, text, (size_t) length);
	return n == length ? 1 : -1;
}

static void on_trap(int number) { (void) number; }

static int serve(int forks)
{
	int fd, to, r = 1;

	if (is_kind("fifo")) {
		char answer[200];

		snprintf(answer, sizeof(answer), "%s.answer", where);
		if (mkfifo(where, 0600) || mkfifo(answer, 0600))
			die(where);
		puts("ready");
		fflush(stdout);
		fd = open(where, O_RDWR);
		to = open(answer, O_RDWR);
		while ((r = handle(fd, to)) > 0)
			;
		return r < 0;
	}
	fd = make();
	if (bind(fd, &address.any, address_size))
		die("bind");
	if (!datagrams() && listen(fd, 64))
		die("listen");
	puts("ready");
	fflush(stdout);
	signal(SIGCHLD, SIG_IGN);
	while (r) {
		int one = datagrams() ? fd : accept(fd, NULL, NULL);

		if (one < 0)
			die("accept");
		if (forks && fork()) {
			close(one);
			continue;
		}
		while ((r = handle(one, one)) > 0)
			;
		if (forks) {
			if (!r)
				kill(getppid(), SIGTERM);
			exit(0);
		}
		if (!datagrams())
			close(one);
	}
	return 0;
}

__attribute__((noipa)) int ask(int fd, int from, int question)
{
	char text[64] = "";
	int length = snprintf(text, sizeof(text), question < 0 ? "end            \n" : "%-15d\n", question);

	if (write(fd, text, (size_t) length) != length)
		die("write");
	if (question < 0)
		return 0;
	if (read(from, text, 16) != 16)
		die("read");
	return atoi(text);
}

static int client(int n, int stays)
{
	int fd, from, sum = 0;

	if (is_kind("fifo")) {
		char answer[200];

		snprintf(answer, sizeof(answer), "%s.answer", where);
		fd = open(where, O_WRONLY);
		from = open(answer, O_RDONLY);
	} else {
		fd = from = make();
		if (is_kind("unixgram")) {
			struct sockaddr_un own = { .sun_family = AF_UNIX };

			if (bind(fd, (struct sockaddr *) &own, sizeof(own.sun_family)))	/* any abstract name */
				die("bind");
		}
		if (connect(fd, &address.any, address_size))
			die("connect");
	}
	for (int i = 0; i < n; i++)
		sum += ask(fd, from, i);
	if (!stays)
		ask(fd, from, -1);
	printf("%d\n", sum);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	kind = argv[2];
	where = argv[3];
	if (argc > 4 && !strcmp(argv[4], "trap"))
		sigaction(SIGTRAP, &(struct sigaction) { .sa_handler = on_trap }, NULL);
	return !strcmp(argv[1], "serve") ? serve(argc > 4 && !strcmp(argv[4], "fork")) : client(argc > 4 ? atoi(argv[4]) : 1, argc > 5);
}
