/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls of all kinds, with what must not be overrun between them: switches,
 * computed gotos, handlers of exceptions, loops that begin at a call.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#define KEEP __attribute__((noinline))

struct shape {
	virtual ~shape() {}
	virtual int area(int k) const = 0;
	virtual int twice(int k) const { return area(k) * 2; }
};
struct square : shape {
	int side;
	explicit square(int s) : side(s) {}
	int area(int k) const override { return side * side + k; }
};
struct circle : shape {
	int r;
	explicit circle(int s) : r(s) {}
	int area(int k) const override { if (k > 100) throw std::range_error("k"); return 3 * r * r - k; }
	int twice(int k) const override { return area(k + 1); }
};

struct noisy {
	const char *what;
	explicit noisy(const char *w) : what(w) {}
	KEEP ~noisy() { if (what[0] == '!') puts(what); }
};

typedef int (*op)(int);
KEEP static int op_add(int x) { return x + 1; }
KEEP static int op_mul(int x) { return x * 3; }
KEEP static int op_neg(int x) { return -x; }
extern "C" KEEP int visible(int x) { return x ^ 5; }
static op ops[] = { op_add, op_mul, op_neg, visible };

KEEP static int each(op *list, int n, int x)
{
	for (op *end = list + n; list < end; list++)
		x = (*list)(x);
	return x;
}

/* Leaf switch: the stack is the caller's all the time. */
KEEP static int leaf(int k, int x)
{
	switch (k) {
	case 0: return x + 1;
	case 1: return x * 7;
	case 2: return x - 3;
	case 3: return x ^ 0x55;
	case 4: return x << 2;
	case 5: return x | 9;
	case 6: return x / 3;
	case 7: return x % 11;
	default: return -1;
	}
}

KEEP static int branchy(int k, shape *s, op f)
{
	switch (k) {
	case 0: return s->area(k);
	case 1: return s->twice(k) + f(k);
	case 2: return f(s->area(3)) + 1;
	case 3: puts("three"); return f(7);
	case 4: return leaf(k, f(9));
	case 5: return s->area(f(1)) - s->twice(2);
	case 6: return each(ops, 3, k);
	case 7: return visible(f(2) + 1);
	case 9: return f(k);
	default: return 0;
	}
}

KEEP static int machine(const unsigned char *code, op f, int x)
{
	static const void *const to[] = { &&add, &&call, &&dec, &&end };

	goto *to[*code];
add:
	x += 2;		/* goes on to the next */
call:
	x = f(x);
	goto *to[*++code];
dec:
	x--;
	goto *to[*++code];
end:
	return x;
}

/* The same without a call: the stack is the caller's all the time. */
KEEP static int machine_leaf(const unsigned char *code, int x)
{
	static const void *const to[] = { &&add, &&twice, &&dec, &&end };

	goto *to[*code];
add:
	x += 2;
	goto *to[*++code];
twice:
	x *= 2;
	goto *to[*++code];
dec:
	x--;
	goto *to[*++code];
end:
	return x;
}

/* The same with distances from a label. */
KEEP static int machine_near(const unsigned char *code, op f, int x)
{
	static const int to[] = { 0, (int) ((char *) &&call - (char *) &&add), (int) ((char *) &&end - (char *) &&add) };

	goto *((char *) &&add + to[*code]);
add:
	x += 5;
call:
	x = f(x);
	goto *((char *) &&add + to[*++code]);
end:
	return x;
}

/* Arguments on the stack, and a pointer among them. */
KEEP static int many(int a, int b, int c, int d, int e, int f, op g, op h, int i)
{
	volatile int local[8] = { a, b, c, d, e, f, i, 1 };

	return g(local[a & 7]) + h(local[b & 7] + i);
}

typedef void (*act)();
static int acts;
KEEP static void act_one() { acts++; }
KEEP static void act_two() { acts += 2; }

/* Each case begins with a call of two bytes, and the one before it runs on into it. */
KEEP static int falling(int k, act f, unsigned x)
{
	switch (k) {
	case 0: x ^= 21;	/* fall through */
	case 1: f(); x += 77;	/* fall through */
	case 2: f(); x ^= 3;	/* fall through */
	case 3: f(); x *= 9;	/* fall through */
	case 4: f(); x >>= 1;	/* fall through */
	case 5: f(); x += 5;	/* fall through */
	case 6: f(); x ^= 11;	/* fall through */
	case 7: f();
	}
	return (int) x;
}

KEEP static int guarded(shape *s, int k)
{
	noisy a("a"), b("b");

	try {
		noisy c("c");
		std::string text(static_cast<size_t>(k & 31), 'x');

		return s->area(k) + static_cast<int>(text.size());
	} catch (const std::range_error &e) {
		return static_cast<int>(strlen(e.what()));
	} catch (...) {
		throw;
	}
}

KEEP static int tail(int x) { return visible(x + 1); }
KEEP static int tail_if(int x) { if (x > 3) return visible(x); return x; }
KEEP static int tail_through(op f, int x) { return f(x + 1); }
KEEP static int tail_table(int k, int x) { return ops[k & 3](x); }
KEEP static int tail_virtual(shape *s) { return s->area(4); }
KEEP static void tail_import(void *p) { free(p); }
KEEP static int even(unsigned n);
KEEP static int odd(unsigned n) { return n ? even(n - 1) : 0; }
KEEP static int even(unsigned n) { return n ? odd(n - 1) : 1; }

int main(int argc, char **argv)
{
	std::vector<shape *> shapes;
	unsigned char code[] = { 0, 1, 2, 1, 3 }, near_code[] = { 0, 1, 1, 2 };
	int sum = argc;

	(void) argv;
	for (int i = 0; i < 6; i++)
		shapes.push_back(i % 2 ? static_cast<shape *>(new square(i)) : new circle(i));
	for (int k = 0; k < 12; k++)
		sum += branchy(k, shapes[static_cast<size_t>(k % 6)], ops[k & 3]) + leaf(k, k);
	for (auto s : shapes)
		sum += guarded(s, 90 + 5 * (sum & 3)) + tail_virtual(s) + guarded(s, 101);
	sum += machine_leaf(code, sum) + machine(code, op_mul, 3) + machine_near(near_code, op_neg, 4);
	sum += many(1, 2, 3, 4, 5, 6, op_add, op_neg, 7) + tail(4) + tail_if(9) + tail_through(op_add, 2);
	sum += tail_table(2, 8) + even(10);
	for (int k = 0; k < 9; k++)
		sum += falling(k, k & 1 ? act_one : act_two, static_cast<unsigned>(sum)) + acts;
	tail_import(malloc(3));
	for (auto s : shapes)
		delete s;
	printf("%d\n", sum);
	return 0;
}
