/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * hit(n) is called with n = 0, 1, ... from stacks of all kinds, always in the same order: C and C++ functions,
 * recursion, callbacks of libc's, tail calls, a large frame, an aligned one, signal handlers on the thread's stack and
 * on another, threads, a library, code that is made at run time.
 *
 *	backtrace [LIBRARY] [wait]
 *
 * wait: a line on standard input comes before the first call.
 */
#include <algorithm>
#include <alloca.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#define KEEP __attribute__((noinline, noclone))
#define HERE __asm__ __volatile__("" ::: "memory")	/* the call before is no tail call */

static int number;

extern "C" KEEP int hit(int n)
{
	HERE;
	return n + 1;
}

extern "C" KEEP int direct(void)
{
	int r = hit(number++);

	HERE;
	return r;
}

extern "C" KEEP int recurse(int n)
{
	int r = n ? recurse(n - 1) : direct();

	HERE;
	return r + 1;
}

extern "C" KEEP int ends_in_call(void)
{
	return direct();		/* a tail call with optimisation: no frame of this function's */
}

static int compare(const void *a, const void *b)
{
	direct();
	return *(const int *) a - *(const int *) b;
}

extern "C" KEEP int large_frame(volatile unsigned char *last)
{
	volatile unsigned char bytes[70000];
	int r;

	bytes[0] = bytes[69999] = *last;
	r = direct();
	HERE;
	return r + bytes[0];
}

extern "C" KEEP int varying_frame(size_t n)
{
	volatile char *bytes = static_cast<volatile char *>(alloca(n));
	int r;

	bytes[n - 1] = 1;
	r = direct();
	HERE;
	return r + bytes[n - 1];
}

extern "C" KEEP int aligned_frame(int n)
{
	alignas(64) volatile int values[16];
	int r;

	values[n & 15] = n;
	r = direct();
	HERE;
	return r + values[n & 15];
}

namespace shapes {
struct shape {
	virtual ~shape() {}
	virtual int area(int n) const = 0;
};
template <typename T> struct square : shape {
	T side;
	explicit square(T s) : side(s) {}
	KEEP int area(int n) const override
	{
		int r = n ? area(n - 1) : direct();

		HERE;
		return r + (int) side;
	}
};
}

extern "C" KEEP int catches(void)
{
	try {
		direct();
		throw 1;
	} catch (int) {
		direct();
	}
	HERE;
	return 0;
}

static void handler(int)
{
	direct();
	HERE;
}

static void handler_info(int, siginfo_t *, void *)
{
	recurse(2);
	HERE;
}

static void *thread(void *)
{
	std::vector<int> v = { 2, 1 };

	recurse(3);
	raise(SIGUSR1);
	std::sort(v.begin(), v.end(), [](int a, int b) { direct(); return a < b; });
	return nullptr;
}

/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret: calls its argument, and nothing describes it. */
static int made_code(void)
{
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
	void *at = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(at, code, sizeof(code));
	return ((int (*)(int (*)(void))) at)(direct);
}

/* In code with a frame pointer, as nothing tells what the stack was where made code was called. */
extern "C" KEEP __attribute__((optimize("no-omit-frame-pointer"))) int calls_made_code(void)
{
	int r = made_code();

	HERE;
	return r;
}

static void signals(void)
{
	static char stack[65536];
	const stack_t other = { .ss_sp = stack, .ss_flags = 0, .ss_size = sizeof(stack) };
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	sigaction(SIGUSR1, &action, nullptr);
	sigaltstack(&other, nullptr);
	action.sa_flags = SA_ONSTACK | SA_SIGINFO;
	action.sa_sigaction = handler_info;
	sigaction(SIGUSR2, &action, nullptr);
	raise(SIGUSR1);
	raise(SIGUSR2);
	kill(getpid(), SIGUSR1);
	*(volatile int *) &number += 0;
}

int main(int argc, char **argv)
{
	int values[] = { 3, 1, 2 };
	unsigned char byte = 1;
	pthread_t made;
	char line[8];

	if (argc > 2) {
		puts("ready");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 1;
	}
	direct();
	recurse(5);
	recurse(30);
	ends_in_call();
	qsort(values, 3, sizeof(values[0]), compare);
	large_frame(&byte);
	varying_frame((size_t) argc * 100 + 24);
	aligned_frame(argc);
	shapes::square<double>(2.0).area(2);
	catches();
	signals();
	for (int i = 0; i < 2; i++) {
		pthread_create(&made, nullptr, thread, nullptr);
		pthread_join(made, nullptr);
	}
	calls_made_code();
	if (argc > 1) {
		void *library = dlopen(argv[1], RTLD_NOW);
		int (*through)(int (*)(void)) = library ? (int (*)(int (*)(void))) dlsym(library, "through") : nullptr;

		if (through)
			through(direct);
	}
	printf("%d calls\n", number);
	return 0;
}
