/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * unloading [CALLS] END - three threads that each load a library of their own, call it (5 times) and unload it, until the file END is there
 * (or a minute is over, in a soak more); then "wrong N". The libraries are this file, too, with -DLIBRARY.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifdef LIBRARY

__attribute__((noipa)) int loaded_inner(int a)
{
	return a + 7;
}

/* Its calls are among its first instructions. */
__attribute__((noipa)) int loaded_outer(int a)
{
	return loaded_inner(a) + loaded_inner(a + 1);
}

#else

static unsigned int wrong;
static const char *end;
static int calls = 5;
static time_t begun;

static void *loads(void *name)
{
	while (access(end, F_OK) && time(NULL) - begun < (getenv("SPI_SOAK") ? 1000 : 60)) {
		void *library = dlopen(name, RTLD_NOW);
		int (*outer)(int) = library ? dlsym(library, "loaded_outer") : NULL;

		for (int i = 0; i < calls; i++)
			if (!outer || outer(i) != 2 * i + 15)
				__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
		if (library)
			dlclose(library);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static char *const names[] = { "./libunloading-1.so", "./libunloading-2.so", "./libunloading-3.so" };
	pthread_t threads[3];

	end = argv[argc - 1];
	if (argc > 2)
		calls = atoi(argv[1]);
	begun = time(NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, loads, names[i]);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("wrong %u\n", wrong);
	return 0;
}

#endif
