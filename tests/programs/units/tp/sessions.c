/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls on command: each line of the input is a step.
 *	call N A S	N calls of work(A + i, S), which return A + i + 1000
 *	deep N		N calls nested in each other, then their returns
 *	open N		enter N calls and stay there; close N returns from them, left N HOW ends them otherwise
 *	one N A S	as call, recorded as one event
 *	thread N	N calls on a thread that then ends, with two still open
 *	fork N		N calls in a child, and the return of what the parent has open
 *	generic N	N calls of a function recorded by address
 *	alone N		N calls of a function without exit slots
 *	count		print the counters
 * Prints the step when it is done.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "host.h"

static const struct host_field args[] = {
	{ "a", SPI_KIND_INT, SPI_PLACE_GPR, RDI, 4, 1 }, { "s", SPI_KIND_STRING, SPI_PLACE_GPR, RSI, 8 },
	{ "c", SPI_KIND_CHAR, SPI_PLACE_GPR, RDX, 1 }, { "d", SPI_KIND_FLOAT, SPI_PLACE_XMM, 0, 8 },
	{ "f", SPI_KIND_FLOAT, SPI_PLACE_XMM, 1, 4 }, { "u", SPI_KIND_INT, SPI_PLACE_GPR, RCX, 2, 0 },
	{ "v", SPI_KIND_INT_ARRAY, SPI_PLACE_STACK, 0, 2, 1, .length = 3 },
};
static const struct host_field ret[] = { { "ret", SPI_KIND_INT, SPI_PLACE_GPR, RAX, 4, 1 } };
static const struct host_func pair[] = {{"work", args, ret, COUNT(args), 1}},
			      one[] = {{"task", args, ret, COUNT(args), 1}},
			      alone[] = {{"alone", args, ret, COUNT(args), 1}};
static struct spi_point *work, *task, *by_address, *single;
static struct spi_slot *open_slots[20000];
static unsigned int open_count;
static char text[64];

static struct spi_slot *enter(struct spi_point *point, unsigned int depth, int a)
{
	struct host_frame *f = host_frame(depth);
	double d = a * 0.5;
	float g = (float) a * 0.25f;
	int16_t v[3] = { (int16_t) a, (int16_t) -a, 7 };

	f->f.rdi = (uint64_t) a;
	f->f.rsi = (uint64_t) text;
	f->f.rdx = 'A' + a % 26;
	f->f.rcx = 65535;
	f->f.ra = 0x1234;
	memcpy(f->stack, v, sizeof(v));
	memcpy(host_vectors[0], &d, 8);
	memcpy(host_vectors[1], &g, 4);
	return host_enter(point, f);
}

static void leave(struct spi_slot *slot, unsigned int depth, int value)
{
	struct host_frame *f = host_frame(depth);

	f->f.rax = (uint64_t) value;
	host_leave(slot, f);
}

static void calls(struct spi_point *point, unsigned int depth, int n, int a)
{
	for (int i = 0; i < n; i++)
		leave(enter(point, depth, a + i), depth, a + i + 1000);
}

static void *thread_run(void *n)
{
	calls(work, 0, (int) (intptr_t) n, 0);
	enter(work, 0, 1);
	enter(work, 1, 2);
	while (spi_thread.cur > spi_thread.base)
		host_left(spi_thread.cur - 1, SPI_LEFT_THREAD_END);
	host_thread_end();
	return NULL;
}

static void child_run(int n)
{
	pid_t pid;

	host_ops->fork_before();
	pid = fork();
	if (pid) {
		host_ops->fork_parent();
		waitpid(pid, NULL, 0);
		return;
	}
	host_ops->fork_child();
	host_ops->child_begins();
	calls(work, open_count, n, 5000);
	while (open_count) {
		open_count--;
		leave(open_slots[open_count], open_count, 1);
	}
	exit(0);
}

static void step(const char *what, int n, int a, const char *s)
{
	struct spi_thread_count c;
	pthread_t thread;

	strcpy(text, s);
	if (!strcmp(what, "call")) {
		calls(work, open_count, n, a);
	} else if (!strcmp(what, "one")) {
		calls(task, open_count, n, a);
	} else if (!strcmp(what, "generic")) {
		calls(by_address, open_count, n, a);
	} else if (!strcmp(what, "alone")) {
		calls(single, open_count, n, a);
	} else if (!strcmp(what, "open")) {
		for (; n; n--, open_count++)
			open_slots[open_count] = enter(work, open_count, (int) open_count);
	} else if (!strcmp(what, "close")) {
		for (; n; n--) {
			open_count--;
			leave(open_slots[open_count], open_count, (int) open_count + 1000);
		}
	} else if (!strcmp(what, "left")) {
		for (; n; n--)
			host_left(open_slots[--open_count], (enum spi_left) a);
	} else if (!strcmp(what, "openone")) {
		for (; n; n--, open_count++)
			open_slots[open_count] = enter(task, open_count, (int) open_count);
	} else if (!strcmp(what, "deep")) {
		step("open", n, 0, s);
		step("close", n, 0, s);
		return;
	} else if (!strcmp(what, "thread")) {
		pthread_create(&thread, NULL, thread_run, (void *) (intptr_t) n);
		pthread_join(thread, NULL);
	} else if (!strcmp(what, "fork")) {
		child_run(n);
	} else if (!strcmp(what, "count")) {
		c = host_count();
		printf("entries %lu exits %lu lost_entries %lu lost_exits %lu owed %lu waiting %u\n",
			(unsigned long) c.entries, (unsigned long) c.exits, (unsigned long) c.lost_entries,
			(unsigned long) c.lost_exits, (unsigned long) c.owed_exits, spi_thread_owes(&spi_thread));
	}
}

int main(int argc, char **argv)
{
	struct spi_point *p[1];
	const char *errors[1];
	char line[200], what[32], s[64];
	int n, a;

	host_start();
	host_bind(pair, 1, 0, &work);
	host_bind(one, 1, SPI_POINT_ONE_EVENT, &task);
	host_bind(alone, 1, SPI_POINT_NO_EXIT, &single);
	host_points(pair, 1, 0, p);
	if (host_ops->bind_generic(p, 1, errors) != 1)
		fprintf(stderr, "generic: %s\n", errors[0]);
	else
		by_address = p[0];
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		n = a = 0;
		strcpy(s, "text");
		if (sscanf(line, "%31s %d %d %63s", what, &n, &a, s) < 1)
			continue;
		step(what, n, a, s);
		printf("done %s", line);
		fflush(stdout);
	}
	return 0;
}
