/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Loads a library that registers itself: loads [-m] N LIBRARY. N times loaded, used and
 * unloaded; then once more, and left to exit(), called from main() in some depth.
 * The library's calls are counted by itself and printed at the very end. -m: into a
 * namespace of its own, with dlmopen(). -r: main() returns instead. -w: waits for a line first.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FN __attribute__((noipa))

static int (*registered)(int), count;

FN void plugin_register(int (*function)(int))
{
	registered = function;
}

void plugin_count(void)
{
	__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
}

static FN void *load(const char *path, int apart)
{
	void *library = apart ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_NOW);

	if (!library) {
		puts(dlerror());
		exit(9);
	}
	return library;
}

static FN int use(void)
{
	return registered ? registered(4) : -1;
}

static FN void leave(void)
{
	exit(5);
}

__attribute__((destructor)) static void last(void)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%d calls\n", count);

	if (write(1, text, (size_t) n) != n)
		_exit(9);
}

int main(int argc, char **argv)
{
	int apart = 0, returns = 0, at = 1;
	char line[16];

	for (; at < argc && argv[at][0] == '-'; at++) {
		apart |= !strcmp(argv[at], "-m");
		returns |= !strcmp(argv[at], "-r");
		if (!strcmp(argv[at], "-w") && puts("ready") >= 0 && fflush(stdout) == 0 && !fgets(line, sizeof(line), stdin))
			return 8;
	}
	for (int i = 0; i < atoi(argv[at]); i++) {
		void *library = load(argv[at + 1], apart);

		printf("%d\n", use());
		registered = NULL;
		dlclose(library);
	}
	load(argv[at + 1], apart);
	printf("%d\n", use());
	fflush(stdout);
	if (!returns)
		leave();
	return 6;
}
