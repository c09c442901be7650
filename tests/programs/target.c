/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What tests inject into. target MODE: says "ready", does one kind of thing
 * until its stdin ends or has a byte, and says what came of it in one line:
 * "MODE: result=R errno=E ms=M", or "MODE: ok" and "MODE: wrong WHAT".
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "target.h"

volatile int stop, signals, poll_myself;

double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

void ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* Set `stop` when stdin ends: a thread, so that the others can compute. */
void *watch_stdin(void *unused)
{
	char c;

	while (read(0, &c, 1) < 0 && errno == EINTR)
		;
	stop = 1;
	return NULL;
}

/* The same without a thread, for what has to be single-threaded. */
void poll_stdin(void)
{
	struct pollfd p = { 0, POLLIN, 0 };

	if (poll(&p, 1, 0) > 0)
		stop = 1;
}

void count_signal(int sig)
{
	signals++;
}

/* ---- memory and the loader, busily ---- */

static void *allocate(void *unused)
{
	unsigned int seed = 1;

	while (!stop) {
		void *p[64];

		for (int i = 0; i < 64; i++)
			p[i] = malloc(rand_r(&seed) % 50000);
		for (int i = 0; i < 64; i++)
			free(p[i]);
		if (unused)
			poll_stdin();
	}
	return NULL;
}

static const char *allocate_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, allocate, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return NULL;
}

static const char *load_libraries(void)
{
	while (!stop) {
		void *m = dlopen("libm.so.6", RTLD_NOW), *z = dlopen("libutil.so.1", RTLD_NOW);

		if (z)
			dlclose(z);
		if (m)
			dlclose(m);
		poll_stdin();
	}
	return NULL;
}

static const char *start_threads(void)
{
	while (!stop) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, (void *(*)(void *)) getpid, NULL))
			return "pthread_create";
		pthread_join(thread, NULL);
	}
	return NULL;
}

/* ---- who cannot be injected ---- */

static void confine(void)
{
	prctl(PR_SET_SECCOMP, 1);	/* read, write, _exit only */
	char c;

	syscall(SYS_exit, write(1, "ready\n", 6) != 6 || read(0, &c, 1) < 0);	/* exit_group() is not allowed */
}

static void vfork_parent(void)
{
	char c;

	if (!vfork()) {
		ready();
		_exit(read(0, &c, 1) < 0);
	}
}

/* "ready", then on a line of its own the pid of a child that has ended and is not collected. */
static void keep_zombie(void)
{
	siginfo_t info;
	pid_t child = fork();
	char c;

	if (!child)
		_exit(0);
	waitid(P_PID, child, &info, WEXITED | WNOWAIT);
	printf("ready\n%d\n", (int) child);
	fflush(stdout);
	if (read(0, &c, 1) < 0)
		exit(1);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; const char *(*run)(void); int watch; } modes[] = {
		{ "compute", compute, 1 }, { "threads", allocate_threads, 1 }, { "dlopen", load_libraries, 0 },
		{ "pthread_create", start_threads, 1 }, { "coroutine", compute_on_coroutine, 1 },
		{ "small-stack", compute_on_small_stack, 0 }, { "handler", compute_in_handler, 1 },
		{ "timer", compute_under_timer, 1 }, { "faults", compute_with_faults, 0 },
	};
	const char *mode = argc > 1 ? argv[1] : "compute", *wrong = NULL;
	int known = 0;

	if (!strcmp(mode, "seccomp"))
		confine();
	if (!strcmp(mode, "zombie")) {
		keep_zombie();
		return 0;
	}
	if (!strcmp(mode, "vfork")) {
		vfork_parent();
		return 0;
	}
	if (!strcmp(mode, "block") && argc > 2) {
		double begun;
		long result;

		ready();
		begun = now_ms();
		result = target_block(argv[2]);
		printf("%s: result=%ld errno=%d ms=%.0f signals=%d\n", argv[2], result, errno, now_ms() - begun,
				signals);
		return 0;
	}
	ready();
	if (!strcmp(mode, "malloc")) {
		allocate((void *) 1);
		known = 1;
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		pthread_t thread;

		if (strcmp(mode, modes[i].name))
			continue;
		known = 1;
		if (modes[i].watch)
			pthread_create(&thread, NULL, watch_stdin, NULL);
		wrong = modes[i].run();
	}
	if (!strncmp(mode, "signals", 7) || !strcmp(mode, "deep")) {
		pthread_t thread;

		known = 1;
		pthread_create(&thread, NULL, watch_stdin, NULL);
		wrong = !strcmp(mode, "deep") ? compute_deep() : signals_kept(mode[7] ? mode[8] : 0);
	}
	printf("%s: %s%s\n", mode, !known ? "unknown mode" : wrong ? "wrong " : "ok", wrong ? wrong : "");
	return 0;
}
