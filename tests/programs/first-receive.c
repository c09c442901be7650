/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What tests/programs/first-receive.py starts.
 *
 *	first-receive client PATH		gets descriptors over the UNIX socket PATH, and sends the text that comes with each over it
 *	first-receive server LOG DELAY FD...	waits DELAY ms, then receives from all of them, by pieces of any size, until the first FD has
 *						brought the word "last"; a line "INDEX OFFSET BYTES" in LOG for each receive, and
 *						"INDEX OFFSET BYTES here" for the one with the first byte of "message"
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int client(const char *path)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int from = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	char text[4000];

	snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
	if (connect(from, (struct sockaddr *) &name, sizeof(name)))
		return 1;
	for (;;) {
		union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control;
		struct iovec part = { text, sizeof(text) };
		struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
		ssize_t n = recvmsg(from, &message, 0);
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		int fd;

		if (n <= 0)
			return n < 0;
		if (!head || head->cmsg_type != SCM_RIGHTS)
			return 2;
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
		if (write(fd, text, (size_t) n) != n || write(fd, "last", 4) != 4)
			return 3;
		close(fd);
	}
}

#define MOST 16
static char seen[MOST][1 << 16];
static size_t at[MOST];

static int server(int argc, char **argv)
{
	struct pollfd ends[MOST];
	FILE *log = fopen(argv[2], "w");
	int count = argc - 4;

	if (!log || count < 1 || count > MOST)
		return 2;
	srand((unsigned int) getpid());
	for (int i = 0; i < count; i++)
		ends[i] = (struct pollfd) { .fd = atoi(argv[4 + i]), .events = POLLIN };
	usleep((useconds_t) atoi(argv[3]) * 1000);
	for (;;) {
		if (poll(ends, (nfds_t) count, -1) <= 0)
			return 3;
		for (int i = 0; i < count; i++) {
			int is_packets = getsockopt(ends[i].fd, SOL_SOCKET, SO_TYPE, &(int) { 0 }, &(socklen_t) { sizeof(int) }) == 0, type = 0;
			size_t room = sizeof(seen[i]) - at[i] - 1;
			char *begin, *word;
			ssize_t n;

			if (!ends[i].revents)
				continue;
			if (is_packets)
				getsockopt(ends[i].fd, SOL_SOCKET, SO_TYPE, &type, &(socklen_t) { sizeof(int) });
			if (type != SOCK_DGRAM && room > 300)
				room = 1 + (size_t) (rand() % 300);
			n = read(ends[i].fd, seen[i] + at[i], room);
			if (n < 0)
				return 4;
			if (!n) {
				ends[i].fd = -1;
				continue;
			}
			begin = seen[i] + (at[i] < 3 ? 0 : at[i] - 3);
			word = strchr(seen[i] + at[i], '<');
			fprintf(log, "%d %zu %zd%s\n", i, at[i], n, i == 0 && word ? " here" : "");
			at[i] += (size_t) n;
			if (i == 0 && strstr(begin, "last"))
				return fclose(log) != 0;
		}
	}
}

int main(int argc, char **argv)
{
	if (argc > 4 && !strcmp(argv[1], "server"))
		return server(argc, argv);
	return argc == 3 && !strcmp(argv[1], "client") ? client(argv[2]) : 2;
}
