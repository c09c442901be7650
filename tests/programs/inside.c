/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * inside MS - calls app_work() for so many milliseconds, then says whose it is and
 * whether anything of ours is in it: "uid EUID inside NUMBER". Linked with
 * lttng-ust. Made setuid in tests.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline, noclone)) long app_work(int number, const char *text)
{
	__asm__ volatile("" : : "r"(text));
	return number * 2L;
}

int main(int argc, char **argv)
{
	int ms = argc > 1 ? atoi(argv[1]) : 0, inside = 0;
	char line[4600];
	FILE *maps;

	for (int i = 0; i < ms; i++) {
		app_work(i, "inside");
		nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
	}
	maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof(line), maps))
		inside += strstr(line, "lttng-spi") != NULL;
	printf("uid %d inside %d\n", (int) geteuid(), inside);
	return 0;
}
