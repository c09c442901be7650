/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program linked with lttng-ust, for register.py: how long it waited before
 * its main().
 *
 * The executable's own .preinit_array runs before the constructor of any library,
 * so between it and main() lies just what liblttng-ust does there: registering
 * with the session daemon, and waiting until that is done. Prints microseconds,
 * and how many of its calls to work() ran with changed code (0 or 1 a call), so
 * that a figure for a traced start is never one of a start that was not traced.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct timespec begin;

static void begin_note(void)
{
	clock_gettime(CLOCK_MONOTONIC, &begin);
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = begin_note;

__attribute__((noipa)) int work(int a)
{
	return a * 3 + 1;
}

/* work()'s first bytes as the file has them; reading the file keeps the compiler's choice out of this. */
static int is_changed(void)
{
	uint8_t now[16], then[16];
	extern const char __ehdr_start[];
	FILE *file = fopen("/proc/self/exe", "re");
	/* The file is laid out as it is mapped here: one page-aligned segment after another, offsets equal. */
	long offset = (const char *) work - __ehdr_start;
	int read;

	if (!file)
		return -1;
	read = !fseek(file, offset, SEEK_SET) && fread(then, sizeof(then), 1, file) == 1;
	fclose(file);
	memcpy(now, (const void *) work, sizeof(now));
	return read ? memcmp(now, then, sizeof(now)) != 0 : -1;
}

int main(void)
{
	struct timespec end;
	int changed;

	clock_gettime(CLOCK_MONOTONIC, &end);
	changed = is_changed();
	printf("%.1f %d %d\n", (end.tv_sec - begin.tv_sec) * 1e6 + (end.tv_nsec - begin.tv_nsec) / 1e3, changed,
	       work(1));
	return 0;
}
