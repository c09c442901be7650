/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Functions of one file, with parameters that compilers make constant or do away with, and results that nobody
 * uses. The callers write down what they pass and get, in the notation of `events.py compare`: `?` before a value
 * means that the event may say that it is not known.
 */
#include <stdio.h>

#define NI __attribute__((noinline))

struct pair {
	int a, b;
};

static volatile int sink;

static NI int one(int mode, int x)
{
	sink++;
	__asm__ volatile("" ::: "memory");
	return x * 3 + mode;
}

static NI int all_known(int mode, int level)
{
	sink++;
	__asm__ volatile("" ::: "memory");
	return mode * level - 100;
}

static NI int unused(int never, int x)
{
	sink++;
	return x + 1;
}

static NI double mixed(int dead, double d, int live)
{
	sink++;
	return d * live;
}

static NI int no_result(int x)
{
	sink += x;
	return x * 5;
}

static NI int calls_on(int x)
{
	sink += x;
	printf("# %d\n", x);
	return x * 7;
}

static NI double no_real(double d)
{
	sink += (int) d;
	printf("# %g\n", d);
	return d * 3;
}

static NI int part_of(const struct pair *p, int k)
{
	sink++;
	return p->b + k;
}

static NI int text(const char *s, double k, int x)
{
	sink++;
	printf("# %s %g %d\n", s, k, x);
	return x - 1;
}

static NI float real(float f, int x)
{
	sink++;
	printf("# %g %d\n", f, x);
	return f * x;
}

static NI long eight(long a, long b, long c, long d, long e, long f, long g, long h)
{
	sink++;
	printf("# %ld %ld %ld\n", a, g, h);
	return h + 1;
}

static NI int nobody(const char *s)
{
	sink++;
	printf("# %s\n", s ? s : "none");
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 3; i++) {
		int k = i * argc;
		double d = 2.5 * argc;
		struct pair p = { 4, k + 10 };

		printf("one_entry|mode=?7|x=%d\n", k);
		printf("one_exit|ret=%d\n", one(7, k));
		printf("all_known_entry|mode=?11|level=?12\n");
		printf("all_known_exit|ret=?%d\n", all_known(11, 12));
		printf("unused_entry|never=?99|x=%d\n", k);
		printf("unused_exit|ret=%d\n", unused(99, k));
		printf("mixed_entry|dead=?55|d=%g|live=%d\n", d, k);
		printf("mixed_exit|ret=%g\n", mixed(55, d, k));
		printf("no_result_entry|x=%d\nno_result_exit|ret=?%d\n", k, k * 5);
		no_result(k);
		printf("calls_on_entry|x=%d\ncalls_on_exit|ret=?%d\n", k, k * 7);
		calls_on(k);
		printf("no_real_entry|d=%g\nno_real_exit|ret=?%g\n", d, d * 3);
		no_real(d);
		printf("part_of_entry|p=?*|k=%d\n", k);
		printf("part_of_exit|ret=%d\n", part_of(&p, k));
		printf("text_entry|s=?\"fixed\"|k=?0.5|x=%d\n", k);
		printf("text_exit|ret=?%d\n", text("fixed", 0.5, k));
		printf("real_entry|f=?2.25|x=%d\n", k);
		printf("real_exit|ret=%g\n", real(2.25f, k));
		printf("eight_entry|a=?1|b=?%d|c=?3|d=?%d|e=?5|f=?%d|g=?7|h=%d\n", k, k, k, k + 100);
		printf("eight_exit|ret=?%ld\n", eight(1, k, 3, k, 5, k, 7, k + 100));
		printf("nobody_entry|s=?\"(null)\"\nnobody_exit|ret=?0\n");
		nobody(NULL);
	}
	return 0;
}
