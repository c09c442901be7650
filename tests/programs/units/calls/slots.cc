/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Return slots and thunks under every way out of a call, without patcher or
 * tracer: functions with five bytes of room at their entry are pointed at a stub
 * by hand, before any thread runs. The payload counts; each case prints how many
 * entries were left open, which must be none.
 */
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* point.h in C++: its layout only */
struct spi_slot;
struct spi_point {
	uint64_t body, word, thunk;
	char tree[40];
	void *exit, *payload;
	uint64_t address;
	char rest[256];
};
extern "C" {
int spi_threads_init(void);
void spi_unwind_init(void);
void spi_process_end(void);
void test_payload_set(struct spi_point *point);
extern long test_entries, test_exits, test_left, test_no_slot, test_nested;
}

/* Here are no trees. */
extern "C" void spi_entries_forget(uint32_t trees)
{
	(void) trees;
}

#define TRACED extern "C" __attribute__((noinline, noclone, patchable_function_entry(5)))

static uint8_t *stubs;
static spi_point points[32];
static int n_points;

static void instrument(void *function)
{
	spi_point *p = &points[n_points];
	uint8_t *s = stubs + 64 * n_points++, *f = static_cast<uint8_t *>(function);
	uint64_t at = reinterpret_cast<uint64_t>(p);
	int32_t rel = static_cast<int32_t>(s - (f + 5));

	p->address = reinterpret_cast<uint64_t>(f);
	p->body = p->address + 5;
	test_payload_set(p);
	s[0] = 0x50;			/* push %rax; movabs point, %rax; jmp *16(%rax) */
	s[1] = 0x48;
	s[2] = 0xb8;
	memcpy(s + 3, &at, 8);
	s[11] = 0xff;
	s[12] = 0x60;
	s[13] = 16;
	uint8_t *page = reinterpret_cast<uint8_t *>(p->address & ~UINT64_C(4095));
	mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	f[0] = 0xe9;
	memcpy(f + 1, &rel, 4);
	mprotect(page, 8192, PROT_READ | PROT_EXEC);
}

static volatile int mode;
static jmp_buf jump;
static volatile long sink;
static int blocked[2];

struct Guard {
	~Guard() { sink = sink + 1; }
};

TRACED void leaf(int x)
{
	void *frames[64];
	char c;

	sink = x;
	if (mode == 1)
		throw std::runtime_error("leaf");
	if (mode == 2)
		longjmp(jump, 1);
	if (mode == 3 && backtrace(frames, 64) < 5)
		abort();
	if (mode == 4 && read(blocked[0], &c, 1) < 0)
		abort();
	if (mode == 5)
		pthread_exit(nullptr);
}

TRACED void middle(int x)
{
	Guard g;

	try {
		leaf(x);
	} catch (int) {
		abort();
	}
	sink = x;
}

TRACED int outer(int x)
{
	Guard g;

	try {
		middle(x);
	} catch (std::exception &) {
		if (x == 2) {
			try {
				throw 5;
			} catch (int) {
				sink = 1;
			}
		}
		return -x;
	}
	return x + 1;
}

TRACED long recurse(long n)
{
	if (n == 0) {
		if (mode == 1)
			throw 1;
		if (mode == 2)
			longjmp(jump, 1);
		return 0;
	}
	long r = recurse(n - 1);
	__asm__ volatile("" : "+r"(r));
	return r + 1;
}

TRACED long tail_b(long n);
static long (*volatile tail_b_pointer)(long) = tail_b;
TRACED long tail_a(long n)
{
	return n == 0 ? 7 : tail_b_pointer(n - 1);
}
TRACED long tail_b(long n)
{
	return n == 0 ? 8 : tail_a(n - 1);
}

TRACED double mixed(double a, float b, long double c, int d, long e, long f, long g, long h, long i, long j)
{
	__asm__ volatile("");
	return a + b + static_cast<double>(c) + d + e + f + g + h + i * 2 + j * 3;
}
TRACED long double x87(long double a)
{
	return a * 2;
}
struct Big {
	long v[8];
};
TRACED Big big(int x)
{
	Big b;
	for (int i = 0; i < 8; i++)
		b.v[i] = x + i;
	return b;
}
typedef double v4 __attribute__((vector_size(32)));
TRACED __attribute__((target("avx"))) v4 wide(v4 a, v4 b)
{
	return a + b;
}

static __attribute__((noinline, target("avx"))) bool wide_is_right()
{
	volatile double in = 1.5;
	v4 a = { in, in, in, in }, w = wide(a, a);

	return w[0] == 3 && w[1] == 3 && w[2] == 3 && w[3] == 3;
}

static int compared;
TRACED int compare(const void *a, const void *b)
{
	compared++;
	if (mode == 1 && compared == 50)
		throw 1;
	if (mode == 2 && compared == 50)
		longjmp(jump, 1);
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

static ucontext_t main_context, contexts[4];
static char stacks[4][65536];
TRACED void switching(int id, int depth)
{
	swapcontext(&contexts[id], &main_context);
	if (depth)
		switching(id, depth - 1);
	sink = depth;
}

static volatile long signals;
TRACED void handled(int x)
{
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
	sink = x;
}

static void result(const char *what, bool good)
{
	static int number;
	long open = test_entries - test_exits - test_left - test_no_slot;

	printf("%s %d - %s\n", good && open == 0 ? "ok" : "not ok", ++number, what);
	if (!good || open)
		printf("# entries %ld exits %ld left %ld without slot %ld nested %ld: %ld open\n", test_entries, test_exits, test_left,
			test_no_slot, test_nested, open);
	fflush(stdout);
	test_entries = test_exits = test_left = test_no_slot = 0;
}

static void *thread_main(void *)
{
	outer(1);
	return nullptr;
}
static void on_signal(int)
{
	handled(1);
	handled(2);
}
static void *busy_main(void *)
{
	for (int i = 0; i < 1000; i++) {
		for (int k = 0; k < 100; k++)
			mixed(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
		outer(1);
	}
	return nullptr;
}
static void *deep_main(void *good)
{
	*static_cast<bool *>(good) = recurse(300000) == 300000 && recurse(100) == 100;
	return nullptr;
}

int main()
{
	int values[200];
	pthread_attr_t attr;
	pthread_t t, u;
	void *returned;
	bool good = true;

	printf("1..14\n");
	stubs = static_cast<uint8_t *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0));
	spi_unwind_init();
	if (spi_threads_init() < 0)
		return 1;
	for (void *f : { reinterpret_cast<void *>(leaf), reinterpret_cast<void *>(middle), reinterpret_cast<void *>(outer),
			reinterpret_cast<void *>(recurse), reinterpret_cast<void *>(tail_a), reinterpret_cast<void *>(tail_b),
			reinterpret_cast<void *>(mixed), reinterpret_cast<void *>(x87), reinterpret_cast<void *>(big),
			reinterpret_cast<void *>(wide), reinterpret_cast<void *>(compare), reinterpret_cast<void *>(switching),
			reinterpret_cast<void *>(handled) })
		instrument(f);

	result("plain calls return what they should", outer(5) == 6);
	mode = 1;
	for (int i = 0; i < 1000; i++)
		good &= outer(1 + (i & 1)) < 0;
	result("exceptions, also out of a handler", good);
	mode = 3;
	outer(1);
	result("backtrace() sees the callers", true);
	mode = 2;
	for (volatile int i = 0; i < 100; i++)
		if (!setjmp(jump))
			outer(1);
	mode = 0;
	leaf(1);
	result("longjmp over traced frames", true);
	if (__builtin_cpu_supports("avx"))
		good &= wide_is_right();
	result("values in every kind of register", good && mixed(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) == 84 && x87(2.5L) == 5 && big(3).v[7] == 10);
	result("a million mutual tail calls", tail_a(1000000) == 7);
	for (int i = 0; i < 200; i++)
		values[i] = i * 7919 % 200;
	qsort(values, 200, sizeof(int), compare);
	for (int i = 0; i < 200; i++)
		good &= values[i] == i;
	for (mode = 1; mode <= 2; mode = mode + 1) {
		for (int i = 0; i < 200; i++)
			values[i] = i * 7919 % 200;
		compared = 0;
		try {
			if (!setjmp(jump))
				qsort(values, 200, sizeof(int), compare);
		} catch (int) {
			sink = 1;
		}
	}
	mode = 0;
	leaf(1);
	result("qsort's callbacks, left by exception and by longjmp", good);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 512u << 20);
	pthread_create(&t, &attr, deep_main, &good);
	pthread_join(t, nullptr);
	result("recursion 300 000 deep in a thread", good);
	if (pipe(blocked))
		return 1;
	mode = 4;
	pthread_create(&t, nullptr, thread_main, nullptr);
	while (__atomic_load_n(&test_entries, __ATOMIC_RELAXED) < 3)
		sched_yield();
	pthread_cancel(t);
	pthread_join(t, &returned);
	result("pthread_cancel", returned == PTHREAD_CANCELED);
	mode = 5;
	pthread_create(&t, nullptr, thread_main, nullptr);
	pthread_join(t, &returned);
	result("pthread_exit", returned == nullptr);
	mode = 0;
	for (int i = 0; i < 4; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = sizeof(stacks[i]);
		contexts[i].uc_link = &main_context;
		makecontext(&contexts[i], reinterpret_cast<void (*)()>(switching), 2, i, 3);
	}
	for (int round = 0; round < 5; round++)
		for (int i = 0; i < 4; i++) {
			int k = round & 1 ? 3 - i : i;
			swapcontext(&main_context, &contexts[k]);
			leaf(0);
		}
	result("coroutines that take turns", true);

	struct sigaction act = {};
	struct sigevent event = {};
	struct itimerspec every = { { 0, 40000 }, { 0, 40000 } };
	timer_t timer;
	act.sa_handler = on_signal;
	act.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &act, nullptr);
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = SIGALRM;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &every, nullptr);
	mode = 1;
	pthread_create(&t, nullptr, busy_main, nullptr);
	pthread_create(&u, nullptr, busy_main, nullptr);
	busy_main(nullptr);
	pthread_join(t, nullptr);
	pthread_join(u, nullptr);
	every = {};
	timer_settime(timer, 0, &every, nullptr);
	/* 3 threads: 1000 * (100 + outer, middle, leaf), and every call of the handler */
	result("threads that throw under a storm of signals: none lost", test_entries == 3 * 1000 * 103 + signals && test_nested == 0);
	for (int i = 0; i < 3000; i++) {
		pthread_create(&t, nullptr, thread_main, nullptr);
		pthread_join(t, nullptr);
	}
	result("3 000 threads one after another", test_entries == 9000);
	mode = 0;
	sigaltstack(nullptr, nullptr);
	{
		stack_t alt = {};
		alt.ss_sp = malloc(65536);
		alt.ss_size = 65536;
		sigaltstack(&alt, nullptr);
		act.sa_flags = SA_ONSTACK;
		sigaction(SIGUSR1, &act, nullptr);
		for (int i = 0; i < 100; i++) {
			raise(SIGUSR1);
			outer(1);
		}
	}
	result("handlers on their own stack", test_entries == 500);
	spi_process_end();
	return 0;
}
