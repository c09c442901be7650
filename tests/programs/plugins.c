/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program that loads one plugin after the other, told by signals, and says
 * what it has done: plugins A.so B.so
 *	SIGUSR1	calls the plugin's t_plug() ten times
 *	SIGUSR2	unloads the plugin and loads the other one
 *	SIGHUP	unloads it and loads it again
 *	SIGTERM	ends
 * plugins A.so B.so storm: loads, calls and unloads both in turns until SIGTERM
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void *handle;
static int (*plug)(int x);

static void load(const char *path)
{
	if (handle)
		dlclose(handle);
	handle = dlopen(path, RTLD_NOW);
	plug = handle ? (int (*)(int)) dlsym(handle, "t_plug") : NULL;
	if (!plug) {
		printf("%s\n", dlerror());
		exit(1);
	}
	printf("loaded %p\n", (void *) plug);
}

/* SIGTERM is blocked: it waits until it is looked for. */
static int storm(char **paths)
{
	unsigned long rounds = 0;
	sigset_t pending;

	do {
		handle = dlopen(paths[rounds & 1], RTLD_NOW);
		plug = (int (*)(int)) dlsym(handle, "t_plug");
		if (plug(6) != (rounds & 1 ? 36 : 7))
			return 1;
		dlclose(handle);
		if (rounds++ == 10)
			puts("running");
		sigpending(&pending);
	} while (!sigismember(&pending, SIGTERM));
	printf("%lu rounds\n", rounds);
	return 0;
}

int main(int argc, char **argv)
{
	int number, which = 0, sum;
	sigset_t set;

	if (argc < 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (argc > 3)
		return storm(argv + 1);
	load(argv[1]);
	while (sigwait(&set, &number) == 0 && number != SIGTERM) {
		if (number == SIGUSR1) {
			sum = 0;
			for (int i = 0; i < 10; i++)
				sum += plug(i);
			printf("called %d\n", sum);
		} else {
			which ^= number == SIGUSR2;
			load(argv[1 + which]);
		}
	}
	return 0;
}
