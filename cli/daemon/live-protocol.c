/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * LTTng's live protocol, as far as CONNECT and LIST_SESSIONS: big-endian packed records over TCP,
 * alike in all versions 2.x. Every exchange has a short time limit, for the port may belong to any
 * program.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/daemon/live-protocol.h"

enum { LIVE_CONNECT = 1, LIVE_LIST_SESSIONS = 2 };
enum { LIVE_TYPE_COMMAND = 1 };

struct live_command {
	uint64_t size;
	uint32_t command;
	uint32_t version;
} __attribute__((packed));

struct live_connect {
	uint64_t viewer;
	uint32_t major, minor;
	uint32_t type;
} __attribute__((packed));

struct live_session {
	uint64_t id;
	uint32_t timer;
	uint32_t clients;
	uint32_t streams;
	char host[64];
	char name[255];
} __attribute__((packed));

static int live_send(int fd, uint32_t command, const void *body, size_t size)
{
	struct live_command head = { htobe64(size), htobe32(command), 0 };
	char packet[sizeof(head) + sizeof(struct live_connect)];

	memcpy(packet, &head, sizeof(head));
	if (size)
		memcpy(packet + sizeof(head), body, size);
	size += sizeof(head);
	return send(fd, packet, size, MSG_NOSIGNAL) == (ssize_t) size ? 0 : -EIO;
}

static int live_receive(int fd, void *to, size_t size)
{
	ssize_t n = recv(fd, to, size, MSG_WAITALL);

	if (n < 0)
		return -errno;
	return n == (ssize_t) size ? 0 : -EPROTO;
}

/* Connect and shake hands. Returns a descriptor, or a negative errno. */
static int live_open(unsigned int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t) port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct live_connect hello = { 0, htobe32(2), htobe32(4), htobe32(LIVE_TYPE_COMMAND) }, answer;
	struct timeval limit = { .tv_sec = 2 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), ret;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	ret = connect(fd, (struct sockaddr *) &address, sizeof(address)) < 0 ? -errno : 0;
	if (ret == 0)
		ret = live_send(fd, LIVE_CONNECT, &hello, sizeof(hello));
	if (ret == 0)
		ret = live_receive(fd, &answer, sizeof(answer));
	if (ret == 0 && be32toh(answer.major) != 2)
		ret = -EPROTO;
	if (ret < 0) {
		close(fd);
		return ret;
	}
	return fd;
}

int live_answers(unsigned int port)
{
	int fd = live_open(port);

	if (fd < 0)
		return 0;
	close(fd);
	return 1;
}

int live_viewers(unsigned int port, const char *host, const char *session)
{
	int fd = live_open(port), ret, found = -ENOENT;
	struct live_session s;
	uint32_t count;

	if (fd < 0)
		return fd;
	ret = live_send(fd, LIVE_LIST_SESSIONS, NULL, 0);
	if (ret == 0)
		ret = live_receive(fd, &count, sizeof(count));
	for (count = ret ? 0 : be32toh(count); count && ret == 0; count--) {
		ret = live_receive(fd, &s, sizeof(s));
		if (ret == 0 && !strncmp(s.host, host, sizeof(s.host)) && !strncmp(s.name, session, sizeof(s.name)))
			found = (int) (be32toh(s.clients) & INT32_MAX);
	}
	close(fd);
	return ret < 0 ? ret : found;
}
