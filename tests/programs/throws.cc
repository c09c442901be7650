/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * C++: exceptions through 50 levels with destructors on the way, caught, thrown
 * again, out of virtual functions, out of a comparator that libc calls; static
 * initialisation, templates, lambdas. throws ROUNDS THREADS
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define FN __attribute__((noipa))

static unsigned long sum;

FN void note(unsigned long v)
{
	__atomic_fetch_add(&sum, v * 2654435761u % 1000003, __ATOMIC_RELAXED);
}

struct Guard {
	int level;
	FN explicit Guard(int l) : level(l) {}
	FN ~Guard() { note(level); }
};

struct Broken : std::runtime_error {
	int at;
	FN explicit Broken(int a) : std::runtime_error("broken"), at(a) {}
};

struct Shape {
	virtual FN ~Shape() {}
	virtual FN int area(int by) = 0;
};
struct Square : Shape {
	FN int area(int by) override { return by * by; }
};
struct Hole : Shape {
	FN int area(int by) override
	{
		if (by % 3 == 0)
			throw Broken(by);
		return -by;
	}
};

FN int down(int level, int bottom)
{
	Guard guard(level);
	if (level == bottom) {
		if (bottom & 1)
			throw Broken(level);
		throw level;
	}
	return down(level + 1, bottom) + 1;
}

FN int again(int bottom)
{
	try {
		return down(0, bottom);
	} catch (const Broken &b) {
		note(b.at);
		throw;
	}
}

FN int catches(int bottom)
{
	try {
		return again(bottom);
	} catch (const std::exception &e) {
		return (int) std::string(e.what()).size();
	} catch (int level) {
		return level;
	}
}

template <typename T> FN T largest(const std::vector<T> &all)
{
	T best = all.at(0);
	for (const T &one : all)
		best = one > best ? one : best;
	return best;
}

FN int compares(const void *a, const void *b)
{
	int x = *(const int *) a, y = *(const int *) b;
	if (x == 13 || y == 13)
		throw Broken(13);
	return x - y;
}

FN int sorts(int with)
{
	int all[] = { 5, 3, with, 8, 1 };
	try {
		qsort(all, 5, sizeof(int), compares);
	} catch (const Broken &b) {
		return b.at;
	}
	return all[0];
}

FN void round_of(int r)
{
	Square square;
	Hole hole;
	Shape *shapes[] = { &square, &hole };

	note(catches(50));
	note(catches(49));
	for (int i = 0; i < 6; i++) {
		try {
			note(shapes[(i + r) & 1]->area(i));
		} catch (const Broken &b) {
			note(b.at + 7);
		}
	}
	note(sorts(13));
	note(sorts(2));
	note(largest(std::vector<int> { 1, 9, r % 5 }));
	std::function<int(int)> f = [r](int x) { return x + r; };
	note(f(3));
	try {
		std::vector<int> { 1 }.at(5);
	} catch (const std::out_of_range &) {
		note(77);
	}
}

FN void rounds(int n)
{
	for (int r = 0; r < n; r++)
		round_of(r);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 5, threads = argc > 2 ? atoi(argv[2]) : 1;
	std::vector<std::thread> others;

	for (int i = 1; i < threads; i++)
		others.emplace_back(rounds, n);
	rounds(n);
	for (auto &t : others)
		t.join();
	printf("%lx\n", sum);
	return 3;
}
