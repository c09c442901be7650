/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * messages KIND COUNT SEED LOG - a child sends COUNT messages of random sizes to its parent, by whichever functions there are, and
 * the parent receives them by whichever. Each logs what it has done by its own counting, to LOG.send and LOG.recv: a line
 * "POSITION BYTES" for each call, of datagrams "NUMBER BYTES".
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 6000

static enum { STREAM, PIPE, DATAGRAM } form;
static unsigned int count;
static FILE *logged;
static unsigned long position;
static struct sockaddr_storage to;
static socklen_t to_size;		/* of datagrams to a name */
static unsigned int sent, received;
static volatile unsigned int *taken;	/* what the receiver has, in memory of both: datagrams must not be dropped */
#define AHEAD	32u

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static void note(unsigned long where, long n)
{
	fprintf(logged, "%lu %ld\n", where, n);
}

static void log_open(const char *base, const char *end)
{
	char path[300];

	snprintf(path, sizeof(path), "%s.%s", base, end);
	logged = fopen(path, "w");
	if (!logged)
		fail(path);
}

/* ---- sending ---- */

static long send_some(int fd, char *buffer, size_t size)
{
	struct iovec parts[3] = { { buffer, size / 3 }, { buffer + size / 3, size / 4 }, { buffer + size / 3 + size / 4, size - size / 3 - size / 4 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 3 };
	struct sockaddr *name = to_size ? (struct sockaddr *) &to : NULL;

	message.msg_name = name;
	message.msg_namelen = to_size;
	switch (rand() % (form == PIPE ? 4 : 6)) {
	case 0:
		return name ? sendto(fd, buffer, size, 0, name, to_size) : write(fd, buffer, size);
	case 1:
		return name ? sendmsg(fd, &message, 0) : writev(fd, parts, 3);
	case 2:
		return name ? sendmsg(fd, &message, 0) : pwritev2(fd, parts, 3, -1, 0);
	case 3:
		if (form == PIPE)
			return vmsplice(fd, parts, 3, 0);
		return name ? sendto(fd, buffer, size, 0, name, to_size) : send(fd, buffer, size, MSG_NOSIGNAL);
	case 4:
		return sendmsg(fd, &message, 0);
	default:
		return sendto(fd, buffer, size, 0, name, to_size);
	}
}

/* Several with one call. */
static void send_many(int fd, char *buffer)
{
	struct iovec part[4];
	struct mmsghdr many[4];
	int n = 1 + rand() % 4, done;

	memset(many, 0, sizeof(many));
	for (int i = 0; i < n; i++) {
		part[i] = (struct iovec) { buffer + i * MOST, 8 + (size_t) (rand() % 1200) };
		snprintf(buffer + i * MOST, MOST, "%u ", sent + (unsigned int) i);
		many[i].msg_hdr = (struct msghdr) { .msg_iov = &part[i], .msg_iovlen = 1, .msg_name = to_size ? &to : NULL, .msg_namelen = to_size };
	}
	done = sendmmsg(fd, many, (unsigned int) n, 0);
	if (done < 0)
		fail("sendmmsg");
	for (int i = 0; i < done; i++) {
		note(form == DATAGRAM ? sent : position, many[i].msg_len);
		position += many[i].msg_len;
		sent++;
	}
}

static void sender(int fd, const char *base, int file)
{
	static char buffer[4 * MOST];
	long n;

	log_open(base, "send");
	for (size_t i = 0; i < sizeof(buffer); i++)
		buffer[i] = (char) rand();
	while (sent < count) {
		size_t size = 1 + (size_t) rand() % (form == DATAGRAM ? 1200 : MOST);

		while (form == DATAGRAM && sent > *taken + AHEAD)
			usleep(50);
		if (form != PIPE && rand() % 5 == 0) {
			send_many(fd, buffer);
			continue;
		}
		if (form == STREAM && rand() % 10 == 0) {
			n = sendfile(fd, file, &(off_t) { 0 }, size);
		} else {
			if (form == DATAGRAM) {
				size += 12;
				snprintf(buffer, MOST, "%u ", sent);
			}
			n = send_some(fd, buffer, size);
		}
		if (n < 0)
			fail("send");
		note(form == DATAGRAM ? sent : position, n);
		position += (unsigned long) n;
		sent++;
	}
	fclose(logged);
}

/* ---- receiving ---- */

static long receive_some(int fd, char *buffer, size_t size)
{
	struct iovec parts[2] = { { buffer, size / 2 }, { buffer + size / 2, size - size / 2 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	switch (rand() % (form == PIPE ? 3 : 6)) {
	case 0:
		return read(fd, buffer, size);
	case 1:
		return readv(fd, parts, 2);
	case 2:
		return preadv2(fd, parts, 2, -1, 0);
	case 3:
		recv(fd, buffer, size, MSG_PEEK);	/* no receive */
		return recv(fd, buffer, size, 0);
	case 4:
		return recvmsg(fd, &message, 0);
	default:
		return recvfrom(fd, buffer, size, 0, NULL, NULL);
	}
}

static int receive_many(int fd, char *buffer)
{
	struct iovec part[4];
	struct mmsghdr many[4];
	int done;

	memset(many, 0, sizeof(many));
	for (int i = 0; i < 4; i++) {
		part[i] = (struct iovec) { buffer + i * MOST, MOST };
		many[i].msg_hdr = (struct msghdr) { .msg_iov = &part[i], .msg_iovlen = 1 };
	}
	done = recvmmsg(fd, many, 4, MSG_WAITFORONE, NULL);
	if (done < 0)
		fail("recvmmsg");
	for (int i = 0; i < done && many[i].msg_len; i++) {
		note(form == DATAGRAM ? strtoul(buffer + i * MOST, NULL, 10) : position, many[i].msg_len);
		position += many[i].msg_len;
		received++;
	}
	return done && many[0].msg_len;
}

static void receiver(int fd, const char *base, int sink)
{
	static char buffer[4 * MOST];
	long n = 1;

	log_open(base, "recv");
	while (n > 0 && (form != DATAGRAM || received < count)) {
		*taken = received;
		if (form == DATAGRAM ? rand() % 5 == 0 : form == STREAM && rand() % 8 == 0) {
			n = receive_many(fd, buffer);
			continue;
		}
		if (form == PIPE && rand() % 4 == 0)
			n = splice(fd, NULL, sink, NULL, 1 + (size_t) rand() % MOST, 0);
		else
			n = receive_some(fd, buffer, form == DATAGRAM ? MOST : 1 + (size_t) rand() % MOST);
		if (n < 0)
			fail("receive");
		if (n)
			note(form == DATAGRAM ? strtoul(buffer, NULL, 10) : position, n);
		position += (unsigned long) n;
		received++;
	}
	fclose(logged);
}

/* ---- channels ---- */

/* Connected over loopback; fds[1] sends. */
static void internet(int fds[2], int domain, int type, int is_accepted_sending)
{
	struct sockaddr_storage own = { .ss_family = (sa_family_t) domain };
	socklen_t size = domain == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	int bound = socket(domain, type, 0), other;

	if (domain == AF_INET)
		((struct sockaddr_in *) &own)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		((struct sockaddr_in6 *) &own)->sin6_addr = in6addr_loopback;
	if (bound < 0 || bind(bound, (struct sockaddr *) &own, size) || getsockname(bound, (struct sockaddr *) &own, &size))
		fail("bind");
	other = socket(domain, type, 0);
	if (type == SOCK_DGRAM) {
		fds[0] = bound;
		fds[1] = other;
		if (is_accepted_sending) {	/* not connected: each message says where to */
			to = own;
			to_size = size;
		} else if (connect(other, (struct sockaddr *) &own, size)) {
			fail("connect");
		}
		return;
	}
	if (listen(bound, 1) || connect(other, (struct sockaddr *) &own, size))
		fail("connect");
	fds[0] = accept(bound, NULL, NULL);
	fds[1] = other;
	if (is_accepted_sending) {
		fds[1] = fds[0];
		fds[0] = other;
	}
	close(bound);
}

static void named(int fds[2], int type, const char *path)
{
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	int bound = socket(AF_UNIX, type, 0);

	snprintf(own.sun_path, sizeof(own.sun_path), "%s.socket", path);
	unlink(own.sun_path);
	if (bound < 0 || bind(bound, (struct sockaddr *) &own, sizeof(own)))
		fail("bind");
	fds[1] = socket(AF_UNIX, type, 0);
	if (type == SOCK_DGRAM) {
		memcpy(&to, &own, sizeof(own));
		to_size = sizeof(own);
		fds[0] = bound;
		return;
	}
	if (listen(bound, 1) || connect(fds[1], (struct sockaddr *) &own, sizeof(own)))
		fail("connect");
	fds[0] = accept(bound, NULL, NULL);
	close(bound);
}

static void make(int fds[2], const char *kind, const char *base)
{
	char path[300];

	form = STREAM;
	if (!strcmp(kind, "pipe")) {
		form = PIPE;
		if (pipe(fds))
			fail("pipe");
	} else if (!strcmp(kind, "fifo")) {
		form = PIPE;
		snprintf(path, sizeof(path), "%s.fifo", base);
		unlink(path);
		if (mkfifo(path, 0600))
			fail("mkfifo");
		fds[0] = open(path, O_RDONLY | O_NONBLOCK);
		fds[1] = open(path, O_WRONLY);
		fcntl(fds[0], F_SETFL, 0);
	} else if (!strcmp(kind, "unix-pair")) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
			fail("socketpair");
	} else if (!strcmp(kind, "unix")) {
		named(fds, SOCK_STREAM, base);
	} else if (!strcmp(kind, "unix-datagram")) {
		form = DATAGRAM;
		named(fds, SOCK_DGRAM, base);
	} else if (!strcmp(kind, "unix-datagram-pair")) {
		form = DATAGRAM;
		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds))
			fail("socketpair");
	} else if (!strcmp(kind, "tcp")) {
		internet(fds, AF_INET, SOCK_STREAM, 0);
	} else if (!strcmp(kind, "tcp-accepted")) {
		internet(fds, AF_INET, SOCK_STREAM, 1);
	} else if (!strcmp(kind, "tcp6")) {
		internet(fds, AF_INET6, SOCK_STREAM, 0);
	} else if (!strcmp(kind, "udp")) {
		form = DATAGRAM;
		internet(fds, AF_INET, SOCK_DGRAM, 0);
	} else if (!strcmp(kind, "udp6-to")) {
		form = DATAGRAM;
		internet(fds, AF_INET6, SOCK_DGRAM, 1);
	} else {
		errno = EINVAL;
		fail(kind);
	}
}

int main(int argc, char **argv)
{
	int fds[2] = { -1, -1 }, status = 0, file = open(argv[0], O_RDONLY), sink = open("/dev/null", O_WRONLY);
	pid_t child;

	if (argc < 5)
		return 2;
	count = (unsigned int) atoi(argv[2]);
	taken = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	make(fds, argv[1], argv[4]);
	child = fork();
	if (child < 0)
		fail("fork");
	srand((unsigned int) atoi(argv[3]) + !child);
	if (!child) {
		close(fds[0]);
		sender(fds[1], argv[4], file);
		return 0;
	}
	close(fds[1]);
	receiver(fds[0], argv[4], sink);
	waitpid(child, &status, 0);
	return status ? 1 : 0;
}
