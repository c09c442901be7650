/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * As backtrace.cc: hit(n) is called with n = 0, 1, ... from further kinds of stacks, always in the same order.
 * Constructors, callbacks of libc's and the dynamic linker's, chains of tail calls, calls by the PLT of a library that
 * comes along (-DLIBRARY), deep recursion, destructors while an exception is on its way, handlers within handlers and
 * within libc, the first function of a thread, ends of threads and of the process, contexts with a stack of their own.
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <link.h>
#include <pthread.h>
#include <search.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
#define HERE __asm__ __volatile__("" ::: "memory")	/* the call before is no tail call */

extern "C" int hit(int n);
extern "C" int direct(void);
extern "C" int by_plt(int n);
extern "C" int by_plt_again(int (*callback)(void));

#ifdef LIBRARY

extern "C" int by_plt(int n)
{
	int r = n ? by_plt(n - 1) : direct();	/* by its own PLT, too */

	HERE;
	return r + 1;
}

extern "C" int by_plt_again(int (*callback)(void))
{
	int r = callback() + direct();

	HERE;
	return r;
}

#else

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

__attribute__((constructor)) static void constructor(void)
{
	direct();
	HERE;
}

struct lasting {
	lasting() { direct(); HERE; }
	~lasting() { direct(); HERE; }
};
static lasting object;		/* before main(), and at the process's end */

extern "C" KEEP int tail_third(void)
{
	return direct();
}

extern "C" KEEP int tail_second(int n)
{
	number += n * 0;
	return tail_third();
}

extern "C" KEEP int tail_first(int n)
{
	return tail_second(n + 1);
}

static int compare(const void *a, const void *b)
{
	direct();
	HERE;
	return *(const int *) a - *(const int *) b;
}

static void walks(const void *, VISIT which, int)
{
	if (which == leaf)
		direct();
	HERE;
}

static int objects(struct dl_phdr_info *, size_t, void *)
{
	direct();
	HERE;
	return 1;
}

static void callbacks(void)
{
	static int values[] = { 1, 2, 3, 4 };
	int unsorted[] = { 2, 1 }, key = 4;
	void *root = nullptr;

	qsort(unsorted, 2, sizeof(int), compare);
	bsearch(&key, values, 4, sizeof(int), compare);
	for (int &v : values)
		tsearch(&v, &root, [](const void *a, const void *b) { return *(const int *) a - *(const int *) b; });
	twalk(root, walks);
	dl_iterate_phdr(objects, nullptr);
	HERE;
}

extern "C" KEEP int deep(int n)
{
	int r = n ? deep(n - 1) : direct();

	HERE;
	return r + 1;
}

struct leaves {
	~leaves() { direct(); HERE; }
};

extern "C" KEEP void throws(int n)
{
	leaves first;

	if (!n)
		throw 1;
	throws(n - 1);
	HERE;
}

static void catches(void)
{
	try {
		throws(1);
	} catch (int) {
		direct();
	}
	HERE;
}

struct base_a { long a; virtual int call() = 0; virtual ~base_a() {} };
struct base_b { long b; virtual int other() = 0; virtual ~base_b() {} };
struct derived : base_a, base_b {
	KEEP int call() override { int r = direct(); HERE; return r; }
	KEEP int other() override { int r = direct(); HERE; return r; }	/* by a thunk that adjusts `this` and jumps */
};

static void objects_of_classes(void)
{
	derived *made = new derived;
	base_b *volatile b = made;
	std::function<int(int)> function = [](int n) { int r = direct(); HERE; return r + n; };

	made->call();
	b->other();
	function(2);
	delete made;
	HERE;
}

static void second_handler(int)
{
	direct();
	HERE;
}

static void first_handler(int)
{
	raise(SIGUSR2);
	direct();
	HERE;
}

static int raises(const void *a, const void *b)
{
	raise(SIGUSR1);
	return *(const int *) a - *(const int *) b;
}

static sigjmp_buf back;

static void jumping_handler(int)
{
	direct();
	siglongjmp(back, 1);
}

static void handlers(void)
{
	int values[] = { 2, 1 };

	signal(SIGUSR1, first_handler);
	signal(SIGUSR2, second_handler);
	raise(SIGUSR1);
	qsort(values, 2, sizeof(int), raises);
	signal(SIGUSR1, jumping_handler);
	if (!sigsetjmp(back, 1))
		raise(SIGUSR1);
	direct();
	HERE;
}

static void at_end(void *)
{
	direct();
	HERE;
}

static void once(void)
{
	direct();
	HERE;
}

static void *first_function(void *key)
{
	static pthread_once_t control = PTHREAD_ONCE_INIT;

	hit(number++);
	pthread_once(&control, once);
	pthread_setspecific(*(pthread_key_t *) key, key);
	return nullptr;
}

static void threads(void)
{
	pthread_key_t key;
	pthread_t made;

	pthread_key_create(&key, at_end);
	pthread_create(&made, nullptr, first_function, &key);
	pthread_join(made, nullptr);
	std::thread([](int n) { deep(n); }, 2).join();
	HERE;
}

static ucontext_t main_context, made_context;

static void in_context(int n)
{
	deep(n);
	swapcontext(&made_context, &main_context);
	direct();
	HERE;
}

static void contexts(void)
{
	static char stack[65536];

	getcontext(&made_context);
	made_context.uc_stack.ss_sp = stack;
	made_context.uc_stack.ss_size = sizeof(stack);
	made_context.uc_link = &main_context;
	makecontext(&made_context, (void (*)(void)) in_context, 1, 1);
	swapcontext(&main_context, &made_context);
	direct();
	swapcontext(&main_context, &made_context);
	HERE;
}

static void at_exit(void)
{
	direct();
	HERE;
}

int main(void)
{
	atexit(at_exit);
	tail_first(1);
	callbacks();
	by_plt(0);
	by_plt(2);
	by_plt_again(direct);
	deep(100);
	catches();
	objects_of_classes();
	handlers();
	threads();
	contexts();
	printf("%d calls\n", number);
	return 0;
}
#endif
