/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * C++ exceptions through traced functions: thrown, caught, rethrown, with
 * destructors on the way, from several threads. thrower N THREADS ends after N
 * rounds and prints its counts like zoo.c; thrower 0 THREADS runs until SIGTERM,
 * printing one line when it is under way and at the end whether every value was
 * right: a target to attach to.
 */
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define T __attribute__((noipa))

static std::atomic<unsigned long> n_thrower, n_middle, n_catcher, n_method;
static std::atomic<long> destroyed, wrong;
static volatile sig_atomic_t stop;

struct Guard {
	~Guard() { destroyed++; }
};

namespace zoo {
class Keeper {
public:
	explicit Keeper(int v) : value(v) {}
	T int t_method(int add) const;
	int value;
};

T int Keeper::t_method(int add) const
{
	n_method++;
	return value + add;
}
}

T long t_thrower(long i)
{
	n_thrower++;
	if (i % 3 == 0)
		throw std::runtime_error("three");
	if (i % 3 == 1)
		throw static_cast<int>(i);
	return i;
}

T long t_middle(long i, double weight)
{
	Guard guard;

	n_middle++;
	try {
		return t_thrower(i) + static_cast<long>(weight);
	} catch (const std::runtime_error &) {
		throw;
	}
}

T long t_catcher(long i)
{
	n_catcher++;
	try {
		return t_middle(i, 0.5);
	} catch (const std::exception &e) {
		return -1;
	} catch (int value) {
		return -2 - (value != i);
	}
}

static void work(long n)
{
	zoo::Keeper keeper(5);

	for (long i = 0; n ? i < n : !stop; i++) {
		long expected = i % 3 == 0 ? -1 : i % 3 == 1 ? -2 : i;

		if (t_catcher(i) != expected || keeper.t_method(static_cast<int>(i & 15)) != 5 + (i & 15))
			wrong++;
	}
}

static void on_term(int)
{
	stop = 1;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100;
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	std::vector<std::thread> pool;

	if (!n) {
		signal(SIGTERM, on_term);
		puts("ready");
		fflush(stdout);
	}
	for (int i = 0; i < threads; i++)
		pool.emplace_back(work, n);
	for (auto &thread : pool)
		thread.join();
	printf("wrong %ld\n", wrong.load());
	if (n) {
		printf("destroyed %ld\n", destroyed.load());
		printf("count t_thrower %lu\ncount t_middle %lu\ncount t_catcher %lu\ncount zoo::Keeper::t_method %lu\n",
			n_thrower.load(), n_middle.load(), n_catcher.load(), n_method.load());
	}
	return wrong ? 1 : 0;
}
