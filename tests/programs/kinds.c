/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Every kind of call that a C compiler makes, with results that a lost argument
 * or register shows: direct, recursive, through pointers in registers, memory
 * and tables, with arguments on the stack, in vector registers, variable in
 * number, structures returned; libc calling back; calls in the place of a return.
 */
#include <search.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FN __attribute__((noipa))

struct big {
	long v[9];
};
struct pair {
	double d;
	long l;
};

static unsigned long sum;

static FN void note(unsigned long v)
{
	sum = sum * 31 + v;
}

static FN int plus_one(int a)
{
	return a + 1;
}

/* With a remainder, as gcc makes a loop of a recursion that only adds. */
static FN int fib(int n)
{
	return n < 2 ? plus_one(n) - 1 : (fib(n - 1) + fib(n - 2)) % 1000;
}

FN int even(int n);

FN int odd(int n)
{
	if (n == 0)
		return 0;
	return even(n - 1);
}

FN int even(int n)
{
	if (n == 0)
		return 1;
	return odd(n - 1);
}

static FN double vectors(double a, float b, double c, double d, double e, double f, double g, double h, double i, int n)
{
	return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + i * 9 + n;
}

static FN long many(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	return a - b + c - d + e - f + g * h - i;
}

static FN struct big make_big(int from)
{
	struct big b;

	for (int i = 0; i < 9; i++)
		b.v[i] = from + plus_one(i);
	return b;
}

static FN long take_big(struct big b, int k)
{
	return b.v[k] + b.v[8];
}

static FN struct pair make_pair(double d, long l)
{
	return (struct pair) { d * 2, l * 3 };
}

static FN long double extended(long double a, long double b)
{
	return a * b;
}

static FN long total(int n, ...)
{
	va_list ap;
	long t = 0;

	va_start(ap, n);
	for (int i = 0; i < n; i++)
		t += i & 1 ? (long) va_arg(ap, double) : va_arg(ap, int);
	va_end(ap);
	return t;
}

static FN int by_value(const void *a, const void *b)
{
	return plus_one(*(const int *) a) - plus_one(*(const int *) b);
}

typedef int (*op)(int);

static FN int twice(int a)
{
	return 2 * a;
}

static FN int square(int a)
{
	return a * a;
}

static op table[] = { plus_one, twice, square };

static struct {
	int pad;
	op f[3];
	struct {
		op g;
	} *next;
} object;

static FN int through(op f, int a)
{
	return f(a) + 1; /* in a register */
}

static FN int through_jump(op f, int a)
{
	return f(a); /* at -O2 a jump */
}

static FN int by_number(int n, int a)
{
	switch (n) { /* a jump table, with calls in the cases */
	case 0:
		return plus_one(a);
	case 1:
		return twice(a) + 1;
	case 2:
		return square(a) + 2;
	case 3:
		return through(plus_one, a) + 3;
	case 4:
		return fib(3) + a;
	case 5:
		return odd(a & 7) + 5;
	case 6:
		return (int) total(3, a, 2.0, 3);
	default:
		return a;
	}
}

static FN void end_of_tail(int a)
{
	note((unsigned) a);
}

static FN void middle_of_tail(int a)
{
	if (a & 1)
		end_of_tail(a * 3); /* a conditional tail call */
	else if (a & 2)
		end_of_tail(a);
}

static FN void start_of_tail(int a)
{
	note((unsigned) a);
	middle_of_tail(a + 1);
}

static jmp_buf env;

static FN int saves(int a)
{
	if (setjmp(env))
		return a + 1000; /* never */
	return plus_one(a);
}

static FN int deep(int n)
{
	volatile char room[64];

	room[n & 63] = (char) n;
	return n ? deep(n - 1) + room[n & 63] - (char) n : plus_one(0);
}

int main(void)
{
	int numbers[24];
	void *root = NULL;
	struct pair p;

	note(fib(12));
	note(even(20) * 2 + odd(21));
	note((unsigned long) (vectors(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) * 8));
	note(many(1, 2, 3, 4, 5, 6, 7, 8, 9));
	note(take_big(make_big(5), 3));
	p = make_pair(1.5, 4);
	note((unsigned long) p.d + (unsigned long) p.l);
	note((unsigned long) extended(1.5L, 4.0L));
	note(total(6, 1, 2.0, 3, 4.0, 5, 6.0));
	for (int i = 0; i < 24; i++)
		numbers[i] = (i * 7919) % 101;
	qsort(numbers, 24, sizeof(int), by_value);
	for (int i = 0; i < 24; i++)
		note((unsigned) numbers[i]);
	int key = numbers[7];
	note(bsearch(&key, numbers, 24, sizeof(int), by_value) == &numbers[7]);
	for (int i = 0; i < 8; i++)
		tsearch(&numbers[i], &root, by_value);
	for (int i = 0; i < 8; i++)
		tdelete(&numbers[i], &root, by_value);
	for (int i = 0; i < 30; i++) {
		object.f[i % 3] = table[(i + 1) % 3];
		object.next = (void *) &object.f[i % 3];
		note((unsigned) table[i % 3](i));
		note((unsigned) object.f[i % 3](i) + (unsigned) object.next->g(i));
		note((unsigned) through(table[i % 3], i) + (unsigned) through_jump(table[(i + 2) % 3], i));
		note((unsigned) by_number(i % 8, i));
		start_of_tail(i);
	}
	note(saves(3));
	note(deep(2000));
	printf("%lx\n", sum);
	return (int) (sum & 0x3f);
}
