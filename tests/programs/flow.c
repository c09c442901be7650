/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Processes that send to each other, and record spi_ipc:* themselves, by their own counting:
 *
 *	flow N		two clients write N requests each into one pipe, a server reads what is there, answers each over
 *			a socket pair, and sends a datagram to a log for each tenth one
 *
 * The server prints what it knows: client, requests, their bytes; the log how many datagrams.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "flow-tp.h"

enum { SHARED = 10, REQUESTS, REQUESTS_OUT, LOG, LOG_OUT, ANSWERS, ANSWERS_OUT = ANSWERS + 2 };
enum { CHANNELS = 4 };		/* requests, answers of each client, log */

/* Of one side of a channel, which all processes share: bytes, operations that are under way, and that were begun. */
struct side {
	_Atomic uint64_t position, under_way, begun;
};

static struct side (*sides)[2];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

static ssize_t moved(int is_send, int channel, int fd, void *data, size_t size)
{
	struct side *s = &sides[channel][!is_send];
	const uint64_t before = atomic_fetch_add(&s->under_way, 1), number = atomic_fetch_add(&s->begun, 1), begin = now();
	const ssize_t n = is_send ? write(fd, data, size) : read(fd, data, size);
	const int is_datagram = channel == 3;
	uint64_t position, flags = is_datagram, hash = 0;

	position = atomic_fetch_add(&s->position, n > 0 ? (uint64_t) n : 0);
	if (!is_datagram && (before || atomic_load(&s->begun) != number + 1))
		flags |= 2;
	for (ssize_t i = 0; is_datagram && i < n; i++)
		hash = (hash ^ ((uint8_t *) data)[i]) * UINT64_C(0x100000001b3);
	if (is_datagram)
		position = hash;
	if (n > 0 && is_send)
		lttng_ust_tracepoint(spi_ipc, send, (uint64_t) channel + 1000, position, size, n, now() - begin, fd, flags);
	else if (n > 0)
		lttng_ust_tracepoint(spi_ipc, recv, (uint64_t) channel + 1000, position, size, n, now() - begin, fd, flags);
	atomic_fetch_sub(&s->under_way, 1);
	return n;
}

static void channel_say(int channel, int fd, int is_send)
{
	lttng_ust_tracepoint(spi_ipc, channel, (uint64_t) channel + 1000, fd, channel == 0 ? "pipe" : channel == 3 ?
		"unix-datagram" : "unix", is_send ? "send" : "recv", "one", "other", 0);
}

struct request {
	uint8_t client, size;
	char rest[62];
};

static int client(int number, int count)
{
	struct request r = { (uint8_t) number, 0, "" };
	char answer[64];

	channel_say(0, REQUESTS_OUT, 1);
	channel_say(1 + number, ANSWERS + number, 0);
	for (int i = 0; i < count; i++) {
		r.size = (uint8_t) (2 + i % 62);
		if (moved(1, 0, REQUESTS_OUT, &r, r.size) != r.size || moved(0, 1 + number, ANSWERS + number, answer, sizeof(answer)) != 7)
			return 1;
	}
	return 0;
}

static int server(int count)
{
	uint64_t requests[2] = { 0 }, bytes[2] = { 0 };
	char data[256], line[32];
	size_t used = 0;
	int done = 0;

	channel_say(0, REQUESTS, 0);
	channel_say(1, ANSWERS_OUT, 1);
	channel_say(2, ANSWERS_OUT + 1, 1);
	channel_say(3, LOG_OUT, 1);
	while (done < 2 * count) {
		const ssize_t n = moved(0, 0, REQUESTS, data + used, sizeof(data) - used);

		if (n <= 0)
			return 1;
		used += (size_t) n;
		while (used >= 2 && used >= (size_t) data[1]) {
			const struct request *r = (const struct request *) data;
			const int who = r->client;
			const size_t size = r->size;

			requests[who]++;
			bytes[who] += size;
			memmove(data, data + size, used -= size);
			if (done++ % 10 == 0 && moved(1, 3, LOG_OUT, line, (size_t) snprintf(line, sizeof(line), "%d", done)) < 0)
				return 1;
			if (moved(1, 1 + who, ANSWERS_OUT + who, "answer", 7) != 7)
				return 1;
		}
	}
	for (int i = 0; i < 2; i++)
		printf("client %d %lu %lu\n", i, (unsigned long) requests[i], (unsigned long) bytes[i]);
	return 0;
}

static int logger(int count)
{
	char line[32];
	int n = 0;

	channel_say(3, LOG, 0);
	while (n < (2 * count + 9) / 10 && moved(0, 3, LOG, line, sizeof(line)) > 0)
		n++;
	printf("log %d\n", n);
	return 0;
}

static void ends_make(void)
{
	int pair[2], shared = memfd_create("flow", 0);

	if (shared < 0 || ftruncate(shared, sizeof(struct side) * 2 * CHANNELS) < 0)
		exit(1);
	dup2(shared, SHARED);
	if (pipe(pair) < 0)
		exit(1);
	dup2(pair[0], REQUESTS);
	dup2(pair[1], REQUESTS_OUT);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
		exit(1);
	dup2(pair[0], LOG);
	dup2(pair[1], LOG_OUT);
	for (int i = 0; i < 2; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
			exit(1);
		dup2(pair[0], ANSWERS + i);
		dup2(pair[1], ANSWERS_OUT + i);
	}
}

int main(int argc, char **argv)
{
	static const char *const roles[] = { "client0", "client1", "server", "log" };
	const int count = atoi(argv[1]);
	int status, failed = 0;

	if (argc > 2) {
		sides = mmap(NULL, sizeof(struct side) * 2 * CHANNELS, PROT_READ | PROT_WRITE, MAP_SHARED, SHARED, 0);
		return sides == MAP_FAILED || (*argv[2] == 'c' ? client(argv[2][6] - '0', count) : *argv[2] == 's' ? server(count) :
			logger(count));
	}
	ends_make();
	for (int i = 0; i < 4; i++)
		if (fork() == 0) {
			execl("/proc/self/exe", roles[i], argv[1], roles[i], (char *) NULL);
			_exit(127);
		}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
