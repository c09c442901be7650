/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Ways into and out of a function, one a mode: zoo MODE [N]. Every t_ function
 * counts its own calls, and the program prints those counts as `count NAME N`
 * when it ends, so that a trace can be compared with what really happened, and
 * the output with that of an untraced run. All output is deterministic.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define T __attribute__((noipa))

enum { LEAF, RECURSE, COMPARE, JUMPER, THREAD, EVEN, ODD, YIELD, HANDLER, STRAY, LEAVER, OUTER, RAISER, COUNT_ };
static const char *const names[COUNT_] = {
	"t_leaf", "t_recurse", "t_compare", "t_jumper", "t_thread", "t_even", "t_odd", "t_yield", "t_handler", "t_stray",
	"t_leaver", "t_outer", "t_raiser",
};
static unsigned long calls[COUNT_];

static void counted(int which)
{
	__atomic_add_fetch(&calls[which], 1, __ATOMIC_RELAXED);
}

/* To the file named by ZOO_COUNTS where the counts depend on time, else to stdout. */
static void report(void)
{
	const char *name = getenv("ZOO_COUNTS");
	FILE *out = name ? fopen(name, "w") : stdout;

	for (int i = 0; out && i < COUNT_; i++)
		if (calls[i])
			fprintf(out, "count %s %lu\n", names[i], calls[i]);
	fflush(out);
}

T long t_leaf(long a, long b)
{
	counted(LEAF);
	return a * 3 + b;
}

/* ---- recursion and callbacks ------------------------------------------ */

T long t_recurse(long depth)
{
	long below = 0;

	counted(RECURSE);
	if (depth > 0)
		below = 1 + t_recurse(depth - 1);
	/* Keeps gcc from making a loop of it. */
	__asm__ volatile("" : "+r"(below) : : "memory");
	return below;
}

T int t_compare(const void *a, const void *b)
{
	counted(COMPARE);
	return (*(const int *) a > *(const int *) b) - (*(const int *) a < *(const int *) b);
}

static void mode_qsort(long n)
{
	int *v = malloc(n * sizeof(*v));
	unsigned int x = 12345;
	unsigned long sum = 0;

	for (long i = 0; i < n; i++)
		v[i] = (int) ((x = x * 1103515245 + 12345) >> 8);
	qsort(v, n, sizeof(*v), t_compare);
	for (long i = 0; i < n; i++)
		sum = sum * 31 + (unsigned int) v[i];
	printf("sorted %lu\n", sum);
	free(v);
}

/* Each calls the other as its last act: gcc makes jumps of both. */
T long t_odd(long n);
T long t_even(long n)
{
	counted(EVEN);
	return n == 0 ? 1 : t_odd(n - 1);
}

T long t_odd(long n)
{
	counted(ODD);
	return n == 0 ? 0 : t_even(n - 1);
}

/* ---- ways out that are no return --------------------------------------- */

static jmp_buf back;

T void t_jumper(int depth)
{
	counted(JUMPER);
	if (depth <= 0)
		longjmp(back, 7);
	if (depth < 100)
		t_jumper(depth - 1);
	__asm__ volatile("");
}

static void mode_longjmp(long n)
{
	volatile long got = 0;

	for (volatile long i = 0; i < n; i++) {
		int value = setjmp(back);

		if (value)
			got += value;
		else
			t_jumper((int) (i % 5));
		t_leaf(i, 1);
	}
	printf("jumped %ld\n", got);
}

T void t_leaver(int how)
{
	counted(LEAVER);
	switch (how) {
	case 1:
		pthread_exit((void *) 42);
	case 2:
		report();
		exit(23);
	case 3:
		report();
		_exit(24);
	case 4:
		for (;;)
			pause();
	}
}

T void *t_thread(void *arg)
{
	counted(THREAD);
	t_leaver((int) (long) arg);
	return NULL;
}

static void mode_pthread_exit(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		pthread_t thread;
		void *value;

		pthread_create(&thread, NULL, t_thread, (void *) 1);
		pthread_join(thread, &value);
		sum += (long) value;
	}
	printf("joined %ld\n", sum);
}

static void mode_cancel(long n)
{
	long cancelled = 0;

	for (long i = 0; i < n; i++) {
		unsigned long before = __atomic_load_n(&calls[LEAVER], __ATOMIC_RELAXED);
		pthread_t thread;
		void *value;

		pthread_create(&thread, NULL, t_thread, (void *) 4);
		while (__atomic_load_n(&calls[LEAVER], __ATOMIC_RELAXED) == before)
			sched_yield();
		pthread_cancel(thread);
		pthread_join(thread, &value);
		cancelled += value == PTHREAD_CANCELED;
	}
	printf("cancelled %ld\n", cancelled);
}

T void t_outer(int how)
{
	counted(OUTER);
	t_leaver(how);
	__asm__ volatile("");
}

/* ---- other stacks -------------------------------------------------------- */

#define FIBERS 4
static ucontext_t main_context, fiber[FIBERS];
static char fiber_stack[FIBERS][64 * 1024];
static long fiber_rounds;

T long t_yield(long id, long round)
{
	counted(YIELD);
	/* The calls of all fibers are open at once, and end in another order than they began. */
	swapcontext(&fiber[id], &main_context);
	return id * 1000 + round;
}

static long fiber_sum;

static void fiber_main(int id)
{
	for (long round = 0; round < fiber_rounds; round++)
		fiber_sum += t_yield(id, round) + t_leaf(id, round);
}

static void mode_coroutines(long n)
{
	fiber_rounds = n;
	for (int i = 0; i < FIBERS; i++) {
		getcontext(&fiber[i]);
		fiber[i].uc_stack.ss_sp = fiber_stack[i];
		fiber[i].uc_stack.ss_size = sizeof(fiber_stack[i]);
		fiber[i].uc_link = &main_context;
		makecontext(&fiber[i], (void (*)(void)) fiber_main, 1, i);
	}
	/* n yields and one last run to each fiber's end, in two alternating orders. */
	for (long round = 0; round <= n; round++)
		for (int i = 0; i < FIBERS; i++)
			swapcontext(&main_context, &fiber[round & 1 ? FIBERS - 1 - i : i]);
	printf("fibers %ld\n", fiber_sum);
}

/* ---- signals --------------------------------------------------------------- */

static volatile sig_atomic_t handled;

T void t_handler(int sig)
{
	counted(HANDLER);
	t_leaf(sig, handled++);
}

static void mode_signals(long n)
{
	struct sigaction action = { .sa_handler = t_handler, .sa_flags = SA_RESTART };
	struct itimerval timer = { { 0, 50 }, { 0, 50 } };
	long sum = 0, rounds = 0;

	sigaction(SIGPROF, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (handled < n) {
		sum += t_leaf(rounds, 1) == rounds * 3 + 1;
		rounds++;
		if (rounds % 64 == 0)
			raise(SIGPROF);
	}
	memset(&timer, 0, sizeof(timer));
	setitimer(ITIMER_REAL, &timer, NULL);
	printf("handled enough: %d, all right: %d\n", handled >= n, sum == rounds);
}

/* On an alternate stack, leaving by siglongjmp every other time. */
static sigjmp_buf signal_back;

T void t_stray(int sig)
{
	counted(STRAY);
	if (handled++ & 1)
		siglongjmp(signal_back, sig);
}

T int t_raiser(int depth)
{
	int ret;

	counted(RAISER);
	ret = depth ? t_raiser(depth - 1) : raise(SIGUSR1);
	__asm__ volatile("" : "+r"(ret));
	return ret;
}

static void mode_altstack(long n)
{
	stack_t stack = { .ss_sp = malloc(64 * 1024), .ss_size = 64 * 1024 };
	struct sigaction action = { .sa_handler = t_stray, .sa_flags = SA_ONSTACK };
	volatile long jumped = 0;

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (volatile long i = 0; i < n; i++) {
		if (sigsetjmp(signal_back, 1))
			jumped++;
		else
			t_raiser((int) (i % 4));
		t_leaf(i, 2);
	}
	printf("strays %ld of %ld\n", (long) jumped, n);
}

/* ---- processes --------------------------------------------------------------- */

static void mode_fork(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		pid_t pid;
		int status;

		t_leaf(i, 3);
		fflush(stdout);
		pid = fork();
		if (pid == 0)
			_exit((int) t_leaf(i, 4) & 63);
		waitpid(pid, &status, 0);
		sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000000;
	}
	printf("children %ld\n", sum);
}

static void mode_exec(long n, char *self)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		char *argv[] = { self, "leaf", "3", NULL };
		pid_t pid;
		int status;

		fflush(stdout);
		pid = vfork();
		if (pid == 0) {
			execv(self, argv);
			_exit(99);
		}
		waitpid(pid, &status, 0);
		sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000000;
	}
	printf("exec %ld\n", sum);
}

static long per_thread;

T void *t_worker(void *arg)
{
	long bad = 0;

	for (long i = 0; i < per_thread; i++)
		bad += t_leaf(i, (long) arg) != i * 3 + (long) arg;
	return (void *) bad;
}

/* threads * N calls: threads in the third argument. */
static void mode_threads(long n, long threads)
{
	pthread_t thread[64];
	long bad = 0;

	per_thread = n;
	for (long i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, t_worker, (void *) i);
	for (long i = 0; i < threads; i++) {
		void *value;

		pthread_join(thread[i], &value);
		bad += (long) value;
	}
	printf("wrong values %ld\n", bad);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 10;
	long more = argc > 3 ? atol(argv[3]) : 1;

	if (!strcmp(mode, "leaf"))
		for (long i = 0; i < n; i++)
			t_leaf(i, 0);
	else if (!strcmp(mode, "recurse"))
		printf("depth %ld\n", t_recurse(n));
	else if (!strcmp(mode, "qsort"))
		mode_qsort(n);
	else if (!strcmp(mode, "tail"))
		printf("even %ld\n", t_even(n));
	else if (!strcmp(mode, "longjmp"))
		mode_longjmp(n);
	else if (!strcmp(mode, "pthread_exit"))
		mode_pthread_exit(n);
	else if (!strcmp(mode, "cancel"))
		mode_cancel(n);
	else if (!strcmp(mode, "exit"))
		t_outer(2);
	else if (!strcmp(mode, "_exit"))
		t_outer(3);
	else if (!strcmp(mode, "coroutines"))
		mode_coroutines(n);
	else if (!strcmp(mode, "signals"))
		mode_signals(n);
	else if (!strcmp(mode, "altstack"))
		mode_altstack(n);
	else if (!strcmp(mode, "fork"))
		mode_fork(n);
	else if (!strcmp(mode, "exec"))
		mode_exec(n, argv[0]);
	else if (!strcmp(mode, "threads"))
		mode_threads(n, more);
	else
		return 2;
	report();
	return 0;
}
