// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 the lttng-spi authors
//
// sanitized [leak|use]: threads that throw from 40 calls deep; then memory that nobody has any more, or use
// of what was freed. Built with a sanitizer it ends as that wants.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

__attribute__((noinline)) static int deep(int n)
{
	std::string s(static_cast<size_t>(n), 'x');

	if (n > 40)
		throw std::runtime_error("deep");
	return deep(n + 1) + static_cast<int>(s.size());
}

static void run(int n)
{
	try {
		deep(n);
	} catch (std::exception &) {
		std::printf("thread\n");
	}
}

static char *volatile kept;

__attribute__((noinline)) static void lose()
{
	kept = static_cast<char *>(std::malloc(77));
	kept = nullptr;
}

__attribute__((noinline)) static int use(const char *p)
{
	return p[3];
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 4; i++)
		threads.emplace_back(run, i);
	for (auto &t : threads)
		t.join();
	if (argc > 1 && !std::strcmp(argv[1], "leak"))
		for (int i = 0; i < 10; i++)
			lose();
	if (argc > 1 && !std::strcmp(argv[1], "use")) {
		char *p = static_cast<char *>(std::malloc(10));

		p[3] = 1;
		std::free(p);
		return use(p);
	}
	return 0;
}
