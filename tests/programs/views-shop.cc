/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Calls with values of several types, each left in another way; what they are is in tests/reader/calls.t. */
#include <csetjmp>
#include <cstring>
#include <stdexcept>

#define KEPT __attribute__((noinline, noipa))

namespace shop {
enum Kind { Cash, Card };
static jmp_buf where;
static volatile int sink;

KEPT double tax(int amount, double rate) { return amount * rate; }
KEPT const void *find(const char *name) { return std::strcmp(name, "bob") ? nullptr : reinterpret_cast<const void *>(1); }
KEPT int pay(int amount, Kind kind, const char *who)
{
	double t = tax(amount, 0.19);

	if (!find(amount < 0 ? "ann" : who))
		return -1;
	return amount + static_cast<int>(t);
}
KEPT void fail(int n)
{
	if (n == 3)
		throw std::runtime_error("three");
}
KEPT int check(int n)
{
	try {
		fail(n);
		return 1;
	} catch (const std::exception &) {
		return 0;
	}
}
KEPT void jump(int n)
{
	if (!n)
		longjmp(where, 1);
	jump(n - 1);
	sink = n;
}
KEPT void jumps()
{
	if (!setjmp(where))
		jump(2);
	sink = 1;
}
}

namespace till {
KEPT const char *name_of(int n) { return n ? "card" : nullptr; }
}

int main()
{
	shop::pay(-3, shop::Card, "ann \"a\" \\ \033[31m");
	shop::check(3);
	shop::jumps();
	shop::pay(7, shop::Cash, "bob");
	return !till::name_of(0) && till::name_of(1) ? 0 : 1;
}
