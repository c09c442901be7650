// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 the lttng-spi authors
//
// memory.cc - C++ allocations of which these stay: 3 of new (100 bytes each), 2 of new[] (50), 1 aligned (256), 1 of
// new (std::nothrow) (70); a vector, a map and strings are given back, as is a static of this program at its
// end, and what is thrown for want of memory; with an argument nothing is thrown.
#include <map>
#include <new>
#include <string>
#include <vector>

struct big {
	char bytes[100];
};
struct alignas(64) aligned {
	char bytes[256];
};

static void *volatile kept;
static std::map<int, std::string> at_end;

[[gnu::noipa]] static void by_new() { kept = new big; }
[[gnu::noipa]] static void by_array() { kept = new char[50]; }
[[gnu::noipa]] static void by_aligned() { kept = new aligned; }
[[gnu::noipa]] static void by_nothrow() { kept = ::operator new(70, std::nothrow); }

int main(int argc, char **)
{
	std::vector<int> numbers;

	for (int i = 0; i < 10000; i++)
		numbers.push_back(i);
	for (int i = 0; i < 300; i++)
		at_end[i] = std::string(100, 'x') + std::to_string(i);
	for (int i = 0; i < 3; i++)
		by_new();
	by_array();
	by_array();
	by_aligned();
	by_nothrow();
	delete new big;
	delete[] new char[9];
	delete new aligned;
	if (argc > 1)
		return 0;
	try {
		kept = ::operator new(static_cast<std::size_t>(-1) / 2);
	} catch (const std::bad_alloc &) {
	}
	return 0;
}
