/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Arguments and results of several eightbytes, in registers and on the stack: prints the bytes of each. With PAYLOAD it
 * is the payload that prints the same, as it sees them.
 */
#ifdef PAYLOAD
#include <lttng/spi.h>
#endif
#include <stdio.h>
#include <string.h>

#define KEPT __attribute__((noinline, noipa, used))

struct pair { long a, b; };
struct mixed { double a; long b; };
struct small { float a, b; int c; };
struct bytes { char a[5]; };
struct large { long a[4]; float b; };
struct wide { long double a; int b; };

static void show(const char *what, const void *value, size_t size)
{
	const unsigned char *c = value;

	printf("%s ", what);
	for (size_t i = 0; i < size; i++)
		printf("%02x", c[i]);
	puts("");
}

#ifndef PAYLOAD
#define SHOW(x, size) show(#x, &x, size)

KEPT struct pair pairs(int n, struct pair a, struct pair b, struct pair spilled, int last)
{
	SHOW(n, 4), SHOW(a, 16), SHOW(b, 16), SHOW(spilled, 16), SHOW(last, 4);
	return spilled;
}

KEPT struct mixed mix(struct mixed a, double b, struct small c, struct bytes d, long double e, struct wide f)
{
	SHOW(a, 16), SHOW(b, 8), SHOW(c, 12), SHOW(d, 5), SHOW(e, 10), SHOW(f, 10);
	return a;
}

KEPT struct large big(struct large a, int b, long double c)
{
	SHOW(a, 36), SHOW(b, 4), SHOW(c, 10);
	return a;
}

KEPT long double real(char a, __int128 b, long c, long d, long e, __int128 spilled, long f)
{
	SHOW(a, 1), SHOW(b, 16), SHOW(c, 8), SHOW(d, 8), SHOW(e, 8), SHOW(spilled, 16);
	SHOW(f, 8);
	return 3.25L;
}

KEPT double _Complex turned(double _Complex a, float _Complex b)
{
	SHOW(a, 16), SHOW(b, 8);
	return a * 2;
}

int main(void)
{
	struct pair p = pairs(1, (struct pair) { 2, 3 }, (struct pair) { 4, 5 }, (struct pair) { 6, 7 }, 8);
	struct mixed m = mix((struct mixed) { 1.5, 2 }, 3.5, (struct small) { 4.5f, 5.5f, 6 }, (struct bytes) { "seven" },
		8.5L, (struct wide) { 9.5L, 10 });
	struct large l = big((struct large) { { 1, 2, 3, 4 }, 5.5f }, 6, 7.5L);
	long double r = real('a', -2, 3, 4, 5, (__int128) 6 << 70, 7);
	double _Complex t = turned(1.5 + 2.5i, 3.5f - 4.5fi);

	show("= pairs", &p, 16), show("= mix", &m, 16), show("= big", &l, 36);
	show("= real", &r, 10), show("= turned", &t, 16);
	return 0;
}
#else
#define INTEGER	SPI_ARGUMENT_INTEGER
#define FLOAT	SPI_ARGUMENT_FLOAT
#define MEMORY	SPI_ARGUMENT_MEMORY

static const struct argument {
	const char *function, *name;		/* no name: the result */
	enum spi_argument_class first, second;
	size_t size, shown, alignment;
} arguments[] = {
	{ "pairs", "n", INTEGER, 0, 4, 4, 4 }, { "pairs", "a", INTEGER, INTEGER, 16, 16, 8 },
	{ "pairs", "b", INTEGER, INTEGER, 16, 16, 8 }, { "pairs", "spilled", INTEGER, INTEGER, 16, 16, 8 },
	{ "pairs", "last", INTEGER, 0, 4, 4, 4 }, { "pairs", NULL, INTEGER, INTEGER, 16, 16, 8 },
	{ "mix", "a", FLOAT, INTEGER, 16, 16, 8 }, { "mix", "b", FLOAT, 0, 8, 8, 8 },
	{ "mix", "c", FLOAT, INTEGER, 12, 12, 4 }, { "mix", "d", INTEGER, 0, 5, 5, 1 },
	{ "mix", "e", MEMORY, 0, 16, 10, 16 }, { "mix", "f", MEMORY, 0, 32, 10, 16 },
	{ "mix", NULL, FLOAT, INTEGER, 16, 16, 8 },
	{ "big", "a", MEMORY, 0, 40, 36, 8 }, { "big", "b", INTEGER, 0, 4, 4, 4 }, { "big", "c", MEMORY, 0, 16, 10, 16 },
	{ "big", NULL, MEMORY, 0, 40, 36, 8 },
	{ "real", "a", INTEGER, 0, 1, 1, 1 }, { "real", "b", INTEGER, INTEGER, 16, 16, 16 },
	{ "real", "c", INTEGER, 0, 8, 8, 8 }, { "real", "d", INTEGER, 0, 8, 8, 8 }, { "real", "e", INTEGER, 0, 8, 8, 8 },
	{ "real", "spilled", INTEGER, INTEGER, 16, 16, 16 }, { "real", "f", INTEGER, 0, 8, 8, 8 },
	{ "real", NULL, SPI_ARGUMENT_X87, 0, 16, 10, 16 },
	{ "turned", "a", FLOAT, FLOAT, 16, 16, 8 }, { "turned", "b", FLOAT, 0, 8, 8, 4 },
	{ "turned", NULL, FLOAT, FLOAT, 16, 16, 8 },
};

static void *enter(struct spi_call *call, void *data)
{
	const char *function = spi_function_name(spi_call_callee(call));
	struct spi_arguments at = { 0 };
	char value[64];

	(void) data;
	spi_call_propel(call);
	if (!strcmp(function, "big"))		/* the address of the result is the first argument */
		spi_call_pop_argument(call, &at, sizeof(void *));
	for (const struct argument *a = arguments; a < arguments + sizeof(arguments) / sizeof(*a); a++)
		if (!strcmp(a->function, function) && a->name &&
				spi_call_pop_copy(call, &at, a->first, a->second, a->size, a->alignment, value) == 0)
			show(a->name, value, a->shown);
	return NULL;
}

static void leave(struct spi_call *call, void *data)
{
	const char *function = spi_function_name(spi_call_callee(call));
	char value[64], name[64] = "= ";

	(void) data;
	for (const struct argument *a = arguments; a < arguments + sizeof(arguments) / sizeof(*a); a++)
		if (!strcmp(a->function, function) && !a->name &&
				spi_call_return_copy(call, a->first, a->second, a->size, value) == 0)
			show(strcat(name, function), value, a->shown);
	if (!strcmp(function, "pairs") && spi_call_return_copy(call, SPI_ARGUMENT_X87, 0, 16, value) == 0)
		puts("pairs() has no long double");
}

__attribute__((constructor)) static void begin(void)
{
	struct spi_agent *agent = spi_agent_create(NULL);

	if (!agent)
		return;
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_exit(agent, leave, NULL);
	spi_agent_go(agent);
}
#endif
