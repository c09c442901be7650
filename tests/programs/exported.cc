// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 the lttng-spi authors
//
// Calls of all kinds for views and exports: recursion, direct and by way of another function, an exception, a result
// with characters that JSON and HTML must escape, two threads, a function that is called at the top and below others.
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>

namespace shop {
volatile int sink;
__attribute__((noipa)) int leaf(int n) { sink = n; return -n; }
__attribute__((noipa)) int fib(int n) { int r = n < 2 ? n : fib(n - 1) + fib(n - 2); sink = r; return r; }
int odd(int n);
__attribute__((noipa)) int even(int n) { int r = n == 0 ? leaf(0) : odd(n - 1); sink = r; return r; }
__attribute__((noipa)) int odd(int n) { int r = n == 0 ? leaf(1) : even(n - 1); sink = r; return r + 1; }
__attribute__((noipa)) const char *pay(const char *who, double price)
{
	if (price > 2.5)
		throw std::runtime_error("too much");
	leaf((int) price);
	return who;
}
__attribute__((noipa)) int round(int n)
{
	int sum = fib(4) + even(3) + leaf(n);

	try {
		pay("</script>\"\n\\ \xc3\xa9", n % 4);
	} catch (const std::runtime_error &) {
		sum++;
	}
	sink = sum;
	return sum;
}
}

static void *work(void *count)
{
	for (int i = 0; i < *(int *) count; i++)
		shop::round(i);
	return nullptr;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t thread;

	pthread_create(&thread, nullptr, work, &count);
	work(&count);
	shop::leaf(7);
	pthread_join(thread, nullptr);
	puts("done");
	return 0;
}
