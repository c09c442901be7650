/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Descriptors at the limits: more fields than an event has room for, long names,
 * equal names, huge arrays, long strings, requests one after the other, a failed
 * near_alloc, and (with an argument) that many functions in one request.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host.h"

static struct host_field wide[100], arrays[4];
static char names[100][16], long_name[700], longer_name[700];
static const struct host_field strings[] = {
	{ "a", SPI_KIND_STRING, SPI_PLACE_GPR, RDI, 8 }, { "b", SPI_KIND_STRING, SPI_PLACE_GPR, RSI, 8 },
};
static const struct host_field taken[] = {
	{ "duration", SPI_KIND_INT, SPI_PLACE_GPR, RDI, 4, 1 }, { "left", SPI_KIND_INT, SPI_PLACE_GPR, RSI, 4, 1 },
	{ "ret", SPI_KIND_INT, SPI_PLACE_GPR, RDX, 4, 1 },
};
static const struct host_field ret[] = { { "ret", SPI_KIND_INT, SPI_PLACE_GPR, RAX, 8, 1 } };

static void call(struct spi_point *point, uint64_t a, uint64_t b)
{
	struct host_frame *f = host_frame(0);
	struct spi_slot *slot;

	f->f.rdi = a;
	f->f.rsi = b;
	f->f.rdx = 3;
	slot = host_enter(point, f);
	f->f.rax = 5;
	host_leave(slot, f);
}

static int many(unsigned int n)
{
	struct host_func *funcs = calloc(n, sizeof(*funcs));
	struct spi_point **points = calloc(n, sizeof(*points));

	for (unsigned int i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "many_%05u", i);
		funcs[i] = (struct host_func) { strdup(name), ret, NULL, 0, 0 };
	}
	host_start();
	host_bind(funcs, n, 0, points);
	for (unsigned int i = 0; i < n; i++)
		call(points[i], i, i);
	return 0;
}

int main(int argc, char **argv)
{
	struct spi_point *p[8], *later[2];
	const char *errors[8];
	char text[3000];
	int r;

	if (argc > 1)
		return many((unsigned int) atoi(argv[1]));
	for (int i = 0; i < 100; i++) {
		snprintf(names[i], sizeof(names[i]), "f%d", i);
		wide[i] = (struct host_field) { names[i], SPI_KIND_INT, SPI_PLACE_STACK, 0, 8, 1 };
	}
	for (int i = 0; i < 4; i++)
		arrays[i] = (struct host_field){
			names[i], SPI_KIND_INT_ARRAY, SPI_PLACE_STACK, 0, 4, 1, .length = i == 1 ? 2000 : 16};
	memset(long_name, 'n', sizeof(long_name) - 1);
	memset(longer_name, 'n', sizeof(longer_name) - 1);
	longer_name[698] = 'x';
	memset(text, 't', sizeof(text) - 1);
	text[2999] = '\0';

	host_start();
	host_ops->set_string_max(2000);
	const struct host_func funcs[] = {
		{"wide", wide, ret, 100, 1},
		{"arrays", arrays, ret, 4, 1},
		{long_name, NULL, ret, 0, 1},
		{longer_name, NULL, ret, 0, 1},
		{"same", strings, ret, 2, 1},
		{"same", strings, ret, 2, 1},
	};
	host_bind(funcs, 6, 0, p);
	for (int i = 0; i < 6; i++)
		call(p[i], (uint64_t) text, (uint64_t) text);

	/* requests after the first: the same provider's name again */
	const struct host_func more[] = { { "same", strings, ret, 2, 1 }, { "taken", taken, ret, 3, 1 } };
	host_bind(more, 1, 0, later);
	host_bind(more + 1, 1, SPI_POINT_ONE_EVENT, later + 1);
	call(later[0], (uint64_t) "x", (uint64_t) "y");
	call(later[1], 1, 2);

	host_near_fails = 1;
	host_points(more, 2, 0, p);
	r = host_ops->bind(p, 2, errors);
	printf("%d %s %d %d\n", r, errors[0], errors[1] == NULL, p[0]->payload == NULL);
	call(p[1], 7, 8);
	fputs(host_notes, stdout);
	return 0;
}
