/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a payload is tried hard with: four threads that allocate, print, throw, sort by a callback and leave by longjmp(),
 * a timer's signal all the while, and children that are forked. Each thread knows what a round has to give. Ends with the
 * first line of its input, and prints what was wrong.
 */
#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#define NOINLINE __attribute__((noinline))

static std::atomic<unsigned long> rounds, wrong, signals;
static std::atomic<bool> is_over;

NOINLINE static void note(int number) { signals += number > 0; }
static void handler(int number) { note(number); }

NOINLINE static int leaf(int a) { return a * 3 + 1; }
NOINLINE static int thrower(int a) { if (a % 2) throw std::runtime_error("odd"); return leaf(a); }

NOINLINE static int caught(int a)
{
	try {
		return thrower(a);
	} catch (const std::exception &e) {
		return static_cast<int>(strlen(e.what()));
	}
}

NOINLINE static void jump_out(jmp_buf *to, int a) { if (leaf(a) > 0) longjmp(*to, a); }

NOINLINE static int jumped(int a)
{
	jmp_buf here;
	int value = setjmp(here);

	if (!value)
		jump_out(&here, a);
	return value;
}

NOINLINE static int compare(const void *a, const void *b) { return *static_cast<const int *>(a) - *static_cast<const int *>(b); }

NOINLINE static int sorted(int a)
{
	std::vector<int> values;

	for (int i = 0; i < 10; i++)
		values.push_back((a + i * 7) % 10);
	qsort(values.data(), values.size(), sizeof(int), compare);
	return values[0] * 10 + values[9];
}

NOINLINE static double scaled(double a, int b) { return a * b + 0.5; }

NOINLINE static bool is_right(int a)
{
	char text[64];

	snprintf(text, sizeof(text), "%.1f %s", scaled(1.5, a), std::string(10, 'x').c_str());
	return caught(4) == 13 && caught(3) == 3 && jumped(7) == 7 && sorted(a) == 9 && strstr(text, "xxxxxxxxxx") &&
		atof(text) == 1.5 * a + 0.5;
}

static void work(int a)
{
	while (!is_over) {
		wrong += !is_right(a);
		rounds++;
		usleep(500);
	}
}

NOINLINE static bool child_is_right(int a)
{
	pid_t child = fork();
	int status = -1;

	if (!child)
		_exit(jumped(a) == a && sorted(a) == 9 && scaled(1.5, 2) == 3.5 ? 7 : 8);	/* without exceptions: doc/limits.md */
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static void forks()
{
	while (!is_over) {
		wrong += !child_is_right(5);
		usleep(20000);
	}
}

int main()
{
	struct itimerval every = { { 0, 3000 }, { 0, 3000 } };
	struct sigaction action = {};
	std::vector<std::thread> threads;
	char line[16];

	action.sa_handler = handler;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, nullptr);
	setitimer(ITIMER_REAL, &every, nullptr);
	for (int i = 1; i <= 3; i++)
		threads.emplace_back(work, i);
	threads.emplace_back(forks);
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	is_over = true;
	for (std::thread &t : threads)
		t.join();
	printf("wrong %lu, rounds %d, signals %d\n", wrong.load(), rounds > 100, signals > 0);
	return 0;
}
