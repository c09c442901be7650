// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 the lttng-spi authors
// C++ whose calls a profile counts: constructors of globals, virtual functions, thunks, templates, exceptions, lambdas.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <vector>

#define KEPT __attribute__((noinline, noipa))

namespace shapes {

struct shape {
	virtual ~shape() {}
	virtual long area() const = 0;
};

struct square : shape {
	long side;
	KEPT explicit square(long s) : side(s) {}
	KEPT long area() const override { return side * side; }
};

struct strip : shape {
	long length;
	KEPT explicit strip(long l) : length(l) {}
	KEPT long area() const override { return length; }
};

struct named {
	virtual ~named() {}
	virtual long letters() const = 0;
};

struct virtual_named : virtual named {
};

// Calls by way of `named` go through code that moves `this`, and has no mcount() call of its own.
struct ring : strip, virtual_named {
	using strip::strip;
	KEPT long letters() const override { return length + 4; }
};

} // namespace shapes

template <typename T> KEPT T twice(T x)
{
	return x + x;
}

static KEPT long checked(long x)
{
	if (x % 3 == 0)
		throw std::runtime_error("three");
	return x;
}

static KEPT long tried(long x)
{
	try {
		return checked(x);
	} catch (const std::exception &) {
		return -1;
	}
}

struct global {
	long value;
	KEPT global() : value(twice(21L)) {}
	KEPT ~global() { value = twice(value); }
};
static global the_global;

int main(int argc, char **argv)
{
	const long n = argc > 1 ? atol(argv[1]) : 10;
	std::vector<shapes::shape *> all;
	long sum = the_global.value;

	for (long i = 0; i < n; i++)
		all.push_back(i % 3 ? static_cast<shapes::shape *>(new shapes::square(i)) : new shapes::strip(i));
	for (auto *s : all)
		sum += s->area() + tried(s->area()) + static_cast<long>(twice(1.5)) + twice(static_cast<int>(n));
	std::sort(all.begin(), all.end(),
		[](const shapes::shape *a, const shapes::shape *b) KEPT { return a->area() < b->area(); });
	for (auto *s : all)
		delete s;
	pthread_atfork(nullptr, nullptr, nullptr);
	std::unique_ptr<shapes::named> name(new shapes::ring(n));
	sum += name->letters();
	std::printf("%ld\n", sum);
	return 0;
}
