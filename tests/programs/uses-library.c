/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Calls into library.c, linked (-DLINKED) or loaded several times (-DLIBRARY=PATH), and is called back. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define FN __attribute__((noipa))

static unsigned long sum;

static FN void note(unsigned long v)
{
	sum = sum * 31 + v;
}

static FN int callback(int a)
{
	note((unsigned) a);
	return a * 3;
}

#ifdef LINKED
int lib_leaf(int a);
int lib_call(int (*f)(int), int a);
int lib_constructed(void);

int main(void)
{
	for (int i = 0; i < 20; i++) {
		note((unsigned) lib_leaf(i));
		note((unsigned) lib_call(callback, i));
		note((unsigned) lib_call(lib_leaf, i));
	}
	note((unsigned) lib_constructed());
	printf("%lx\n", sum);
	return 2;
}
#else
static FN void one_load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*leaf)(int), (*call)(int (*)(int), int), (*constructed)(void);

	if (!library) {
		puts(dlerror());
		exit(9);
	}
	leaf = (int (*)(int)) dlsym(library, "lib_leaf");
	call = (int (*)(int (*)(int), int)) dlsym(library, "lib_call");
	constructed = (int (*)(void)) dlsym(library, "lib_constructed");
	for (int i = 0; i < 20; i++) {
		note((unsigned) leaf(i));
		note((unsigned) call(callback, i));
		note((unsigned) call(leaf, i));
	}
	note((unsigned) constructed());
	dlclose(library);
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		one_load(LIBRARY);
	printf("%lx\n", sum);
	return 2;
}
#endif
