/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Calls of C++, each the same whenever it runs; argv[1]: exceptions, objects or containers. */
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#define KEPT __attribute__((noinline, noipa))

namespace shop {
volatile int sink;

struct Item {
	virtual ~Item() {}
	virtual int price(int n) const = 0;
};
struct Apple : Item {
	KEPT int price(int n) const override { return n * 3 + sink; }
};
struct Pear : Item {
	KEPT int price(int n) const override { return n * 5 + sink; }
};
struct Basket {
	KEPT Basket() { sink = 1; }
	KEPT ~Basket() { sink = 2; }
	KEPT int total(const Item &item, int n) { int r = item.price(n); sink = r; return r; }
};
KEPT int check(int n)
{
	if (n % 3 == 0)
		throw std::runtime_error("three");
	return n + sink;
}
KEPT int within(int n)
{
	Basket basket;
	int r = check(n);

	sink = r;
	return r;
}
KEPT int tries(int n)
{
	try {
		return within(n);
	} catch (const std::exception &) {
		return -1;
	}
}
KEPT void rethrows(int n)
{
	try {
		sink = within(n);
	} catch (...) {
		sink = 7;
		throw;
	}
}
KEPT void exceptions()
{
	for (int i = 0; i < 9; i++)
		sink = tries(i);
	for (int i = 0; i < 4; i++) {
		try {
			rethrows(i);
		} catch (const std::runtime_error &) {
			sink = 9;
		}
	}
}
KEPT void objects()
{
	Apple apple;
	Pear pear;

	for (int i = 0; i < 10; i++) {
		Basket basket;

		sink = basket.total(apple, i) + basket.total(pear, i);
	}
}
}

int main(int argc, char **argv)
{
	if (argc > 1 && !std::strcmp(argv[1], "exceptions"))
		shop::exceptions();
	if (argc > 1 && !std::strcmp(argv[1], "objects"))
		shop::objects();
	return 0;
}
