// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 the lttng-spi authors
// For pages: threads, values, and names that a page must not take for HTML. pages-shop THREADS ROUNDS
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))

extern "C" NOINLINE int evil(int n) __asm__("\"evil</script><script>document.title='broken'</script>\"");
extern "C" NOINLINE int evil(int n) { __asm__(""); return n * 2; }
extern "C" NOINLINE int größe(int n) { __asm__(""); return evil(n) + 1; }

namespace shop {
enum Kind { Cash, Card };
NOINLINE long price(int item)
{
	long sum = 0;

	for (int i = 0; i < 100 + item % 50; i++) {
		sum += i * item;
		__asm__("");
	}
	return sum;
}
NOINLINE long total(int n, bool tax)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum += price(i);
	__asm__("");
	return tax ? sum + sum / 10 : sum;
}
NOINLINE int check(const char *who, long sum)
{
	if (sum % 7 == 3)
		throw std::runtime_error(who);
	return 1;
}
NOINLINE int pay(int basket, Kind kind, const char *who)
{
	try {
		return check(who, total(basket % 20, kind == Card));
	} catch (std::exception &) {
		return -1;
	}
}
NOINLINE void work(int seed, int rounds)
{
	for (int i = 0; i < rounds; i++)
		pay(seed + i, i & 1 ? Card : Cash, i % 3 ? "ann" : "<script>document.title='broken'</script> Zoë \"& co");
	größe(seed);
}
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;

	for (int i = 0; i < atoi(argv[1]); i++)
		threads.emplace_back(shop::work, i * 100, atoi(argv[2]));
	for (auto &thread : threads)
		thread.join();
	return 0;
}
