/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A daemon that gives root's rights up. `renewed LIBRARY UID [temporary]`: for each line that it reads it goes one step: calls step_root(), becomes that user and calls
 * step_user(), loads the library and calls its function. `temporary`: it becomes the user in its effective id only, and root again before the library.
 */
#include <dlfcn.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline, noclone)) int step_root(int n) { __asm__ volatile("" ::: "memory"); return n + 1; }
__attribute__((noinline, noclone)) int step_user(int n) { __asm__ volatile("" ::: "memory"); return n + 2; }

static int line(const char *said)
{
	char text[16];

	puts(said);
	fflush(stdout);
	return fgets(text, sizeof(text), stdin) ? 0 : 1;
}

int main(int argc, char **argv)
{
	uid_t uid = argc > 2 ? (uid_t) atoi(argv[2]) : 0;
	int is_temporary = argc > 3, (*late)(int), sum = 0;
	void *library;

	if (line("ready"))
		return 1;
	sum += step_root(1);
	if (is_temporary ? seteuid(uid) : setgroups(0, NULL) || setgid(uid) || setuid(uid))
		return 2;
	sum += step_user(1);
	if (line("became") || (is_temporary && seteuid(0)))
		return 3;
	library = dlopen(argv[1], RTLD_NOW);
	late = library ? (int (*)(int)) dlsym(library, "step_late") : NULL;
	if (!late)
		return 4;
	for (int i = 0; i < 100; i++)
		sum += late(i);
	printf("sum %d\n", sum);
	return line("called");
}
