/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The same call three times: a thread's first goes the general way, the next ones
 * the straight way of the usual call. Records of every size around its limits:
 * odd and even numbers of integers, of one size and mixed, and strings. errno is
 * looked at after each call.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "host.h"

#define FOURS_MAX	64

static const unsigned int sizes[] = { 1, 2, 3, 23, 24, 25, 63, 64 };
static struct host_field fours[FOURS_MAX], mixed[7];
static char names[FOURS_MAX][8], texts[4][300];
static const struct host_field strings[] = {
	{ "a", SPI_KIND_STRING, SPI_PLACE_GPR, RDI, 8 }, { "b", SPI_KIND_STRING, SPI_PLACE_GPR, RSI, 8 },
	{ "c", SPI_KIND_STRING, SPI_PLACE_GPR, RDX, 8 },
};
static const struct host_field ret[] = { { "ret", SPI_KIND_INT, SPI_PLACE_GPR, RAX, 4, 1 } };

static void call(struct spi_point *point, uint64_t a, uint64_t b, uint64_t c)
{
	struct host_frame *f = host_frame(0);
	struct spi_slot *slot;

	for (unsigned int i = 0; i < FOURS_MAX; i++)
		f->stack[i] = UINT64_C(0x7777777700000000) + 1000 + i;
	f->f.rdi = a;
	f->f.rsi = b;
	f->f.rdx = c;
	errno = EXDEV;
	slot = host_enter(point, f);
	f->f.rax = 4242;
	host_leave(slot, f);
	if (errno != EXDEV)
		printf("errno is %d\n", errno);
}

int main(void)
{
	struct host_func funcs[COUNT(sizes) + 4];
	struct spi_point *points[COUNT(funcs)];
	static char function_names[COUNT(sizes)][16];
	struct spi_thread_count count;
	unsigned int n = 0;

	for (int i = 0; i < FOURS_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "f%d", i);
		fours[i] = (struct host_field) { names[i], SPI_KIND_INT, SPI_PLACE_STACK, 0, 4, 1, .offset = 8 * i };
	}
	for (int i = 0; i < 7; i++)
		mixed[i] = (struct host_field) {
			names[i], SPI_KIND_INT, SPI_PLACE_STACK, 0, (uint8_t) (1 << i % 4), 0, .offset = 8 * i };
	for (unsigned int i = 0; i < COUNT(sizes); i++) {
		snprintf(function_names[i], sizeof(function_names[i]), "fours%u", sizes[i]);
		funcs[n++] = (struct host_func) { function_names[i], fours, ret, sizes[i], 1 };
	}
	funcs[n++] = (struct host_func) { "mixed", mixed, ret, 7, 1 };
	funcs[n++] = (struct host_func) { "string1", strings, ret, 1, 1 };
	funcs[n++] = (struct host_func) { "string2", strings, ret, 2, 1 };
	funcs[n++] = (struct host_func) { "string3", strings, ret, 3, 1 };
	for (int i = 0; i < 4; i++)
		memset(texts[i], 'p' + i, i < 3 ? 30 : 299);

	host_start();
	host_bind(funcs, n, 0, points);
	for (int again = 0; again < 3; again++)
		for (unsigned int i = 0; i < n; i++)
			call(points[i], (uint64_t) texts[again], (uint64_t) (again ? texts[3] : NULL), (uint64_t) texts[1]);
	count = host_count();
	printf("%lu entries %lu exits\n", (unsigned long) count.entries, (unsigned long) count.exits);
	return 0;
}
