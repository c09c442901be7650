/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * An application linked with lttng-ust.
 *
 *   app N             N events from main()'s first line on, then the end
 *   app N wait FIFO   the same, then "ready" on stdout, then as many events for each byte read from FIFO
 *   app N again M     executes itself M times, each time soon after it has begun to register, then the first
 *   app N burst M     M of the first kind at once; waits for all; status: how many failed
 *
 * APP_BEGAN is CLOCK_MONOTONIC in nanoseconds before execve(): then "main after
 * USEC" is printed.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "hits-tp.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void hits(int n)
{
	for (int i = 0; i < n; i++)
		lttng_ust_tracepoint(plug, hit, i);
}

/* This program is itself linked with lttng-ust: its children execute at once. */
static int burst(const char *self, const char *n, int m)
{
	int failed = 0, status;

	for (int i = 0; i < m; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			failed++;
		} else if (!pid) {
			char began[32];

			snprintf(began, sizeof(began), "%lld", clock_ns());
			setenv("APP_BEGAN", began, 1);
			execl(self, self, n, (char *) NULL);
			_exit(1);
		}
	}
	while (wait(&status) > 0)
		failed += status != 0;
	return failed;
}

/* lttng-ust has made the second of its two connections, so what it says of us is on its way. */
static int is_registering(void)
{
	char path[32], link[64];
	int sockets = 0;

	for (int fd = 3; fd < 1024; fd++) {
		ssize_t size;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		size = readlink(path, link, sizeof(link));
		sockets += size > 7 && !memcmp(link, "socket:", 7);
	}
	return sockets >= 2;
}

/* lttng-ust does not wait in those that come before the last. */
static void again(const char *self, const char *n, int m)
{
	char left[16];

	for (int i = 0; i < 2500 && !is_registering(); i++)
		nanosleep(&(struct timespec) { .tv_nsec = 2000000 }, NULL);
	nanosleep(&(struct timespec) { .tv_nsec = 2000000 }, NULL);
	setenv("LTTNG_UST_REGISTER_TIMEOUT", m > 1 ? "0" : "-1", 1);
	snprintf(left, sizeof(left), "%d", m - 1);
	execl(self, self, n, m > 1 ? "again" : NULL, left, (char *) NULL);
	_exit(1);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	const char *began = getenv("APP_BEGAN");
	char byte;
	int fd;

	if (argc > 3 && !strcmp(argv[2], "burst"))
		return burst(argv[0], argv[1], atoi(argv[3]));
	if (argc > 3 && !strcmp(argv[2], "again"))
		again(argv[0], argv[1], atoi(argv[3]));
	hits(n);
	if (began)
		printf("main after %lld\n", (clock_ns() - atoll(began)) / 1000);
	if (argc > 3 && !strcmp(argv[2], "wait")) {
		puts("ready");
		fflush(stdout);
		fd = open(argv[3], O_RDONLY);
		while (fd >= 0 && read(fd, &byte, 1) == 1)
			hits(n);
	}
	return 0;
}
