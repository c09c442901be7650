/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * crossing-life KINDS END LOOK - calls functions until the file END is there, in threads of the kinds that the letters name;
 * prints how often each function was called, by all its threads, children and programs, and waits for the file LOOK.
 *
 *   t  two threads that do nothing else        b  threads that begin and end all the time, detached ones, too, and by pthread_exit()
 *   f  children by fork() that end by _exit() or exit()   n  the same, from within calls   x  itself, by posix_spawn()
 *   l  a library that is loaded, called and unloaded       j  calls that are left by longjmp()
 *   s  signals for the two threads, one on another stack   a  a signal for whichever thread it hits
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "crossing.h"

#define A_CALL(result)	__asm__ volatile("" : "+r" (result))	/* whatever the compiler thinks of loops */

extern char **environ;

enum {
	TURN, USUAL, LEAF, EARLY, FIRST, AGAIN, RECURSE, TAIL, INDIRECT, TINY, TINY2, LIB_OUTER, LIB_INNER,
	JUMP_OUT, JUMP_DOWN, LEAVE, LOADED_OUTER, LOADED_INNER, BY_FORK, TICK, TICK_LEAF, ON_SIGNAL, SHORT_LIFE, NAMES
};
static const char *const names[NAMES] = {
	"turn", "usual", "leaf", "early", "first", "again", "recurse", "tail", "indirect", "tiny", "tiny2", "lib_outer", "lib_inner",
	"jump_out", "jump_down", "leave", "loaded_outer", "loaded_inner", "by_fork", "tick", "tick_leaf",
	"on_signal", "short_life",
};

/* Shared with children and with the programs that this one starts. */
static unsigned long *counts;
static unsigned int detached, wrong;
static const char *kinds, *end;

static void count(int name, int n)
{
	__atomic_fetch_add(&counts[name], n, __ATOMIC_RELAXED);
}

static void must(int is_right, const char *what)
{
	if (!is_right && __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED) < 5)
		fprintf(stderr, "%d: %s: %m\n", (int) getpid(), what);
}

/* A thread's last instructions are libc's, and those of a handler that hits them are not recorded. */
static void last_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static int is_over(void)
{
	return !access(end, F_OK);
}

/* libcrossing.so */
int lib_outer(int a);

STAY int leaf(int a)
{
	count(LEAF, 1);
	return a + 123456789;
}

STAY int recurse(int n)
{
	int x;

	count(RECURSE, 1);
	x = n ? recurse(n - 1) : leaf(n);
	A_CALL(x);
	return x + 1;
}

STAY int tail(int a)
{
	count(TAIL, 1);
	return early(a + 1);	/* a jump, with -O2 */
}

static int (*volatile way[3])(int) = { tiny, tiny2, leaf };

STAY int indirect(int a)
{
	int sum = 0;

	count(INDIRECT, 1);
	for (int i = 0; i < 3; i++)
		sum += way[i](a);
	return sum;
}

STAY int usual(int a)
{
	count(USUAL, 1);
	return leaf(a) + early(a) + first(a) + again(3);
}

STAY int jump_down(int n, sigjmp_buf *to)
{
	int x;

	count(JUMP_DOWN, 1);
	if (!n)
		siglongjmp(*to, leaf(n));
	x = jump_down(n - 1, to);
	A_CALL(x);
	return x + 1;
}

/* Calls that are left all at once; the next ones lie where those were. */
STAY int jump_out(int a)
{
	sigjmp_buf to;

	count(JUMP_OUT, 1);
	if (!sigsetjmp(to, a & 1))
		jump_down(a % 6, &to);
	return leaf(a);
}

STAY int leave(int n)
{
	int x;

	count(LEAVE, 1);
	if (!n) {
		last_signal();
		pthread_exit(NULL);
	}
	x = leave(n - 1);
	A_CALL(x);
	return x + 1;
}

STAY int by_fork(int a)
{
	count(BY_FORK, 1);
	count(EARLY, 1);	/* tail()'s */
	return leaf(a) + tail(a);
}

enum { ALL, SOME, JUMP, LOADED, END, FORK, CHILD };

/* The root of the trees. */
STAY int turn(int a, int how, int (*loaded)(int))
{
	int sum = 0, status = -1;
	pid_t child;

	count(TURN, 1);
	switch (how) {
	case ALL:
		sum = usual(a) + recurse(3) + tail(a) + indirect(a) + tiny(a) + lib_outer(a);
		/* What counts nothing itself */
		count(EARLY, 3);
		count(FIRST, 1);
		count(AGAIN, 1);
		count(TINY, 2);
		count(TINY2, 1);
		count(LIB_OUTER, 1);
		count(LIB_INNER, 2);
		break;
	case SOME:
		sum = leaf(a) + recurse(1);
		break;
	case JUMP:
		sum = jump_out(a);
		break;
	case LOADED:
		sum = loaded(a);
		count(LOADED_OUTER, 1);
		count(LOADED_INNER, 2);
		break;
	case CHILD:
		sum = by_fork(a);
		break;
	case END:
		sum = leave(a % 4);
		break;
	case FORK:
		child = fork();
		if (!child) {
			by_fork(a);
			if (a & 1)
				_exit(7);
			return 0;
		}
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		must(WIFEXITED(status) && WEXITSTATUS(status) == 7, "a child's status, forked in calls");
		sum = leaf(a);
	}
	return sum;
}

/* All of it, and the same result each time. */
static void turn_all(void)
{
	static int first_sum;
	int sum = turn(5, ALL, NULL), none = 0;

	if (!__atomic_compare_exchange_n(&first_sum, &none, sum, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		must(sum == none, "a turn's result");
}

/* ---- signals ---- */

STAY int tick_leaf(int a)
{
	count(TICK_LEAF, 1);
	return a + 3;
}

STAY int tick(int a)
{
	count(TICK, 1);
	return tick_leaf(a) + tick_leaf(a + 1);
}

STAY void on_signal(int number)
{
	static unsigned int ticks;
	int error = errno;

	count(ON_SIGNAL, 1);
	tick(number);
	if (__atomic_fetch_add(&ticks, 1, __ATOMIC_RELAXED) % 3 == 0)
		turn(number, number == SIGUSR2 ? JUMP : SOME, NULL);
	errno = error;
}

static timer_t timer_for_me(int number, long ns)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number };
	struct itimerspec often = { { 0, ns }, { 0, ns } };
	timer_t timer;

	event._sigev_un._tid = syscall(SYS_gettid);
	must(!timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &often, NULL), "timer");
	return timer;
}

/* ---- what threads do ---- */

static void *steady(void *data)
{
	long which = (long) data;
	static char other_stack[64 << 10];
	stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof(other_stack) };
	timer_t timer;
	int has_timer = strchr(kinds, 's') != NULL;

	if (has_timer) {
		if (which)
			sigaltstack(&stack, NULL);
		timer = timer_for_me(which ? SIGUSR1 : SIGUSR2, which ? 2300000 : 3700000);
	}
	while (!is_over()) {
		turn_all();
		usleep(900);
	}
	if (has_timer)
		timer_delete(timer);
	last_signal();
	return NULL;
}

STAY void *short_life(void *data)
{
	long what = (long) data;

	count(SHORT_LIFE, 1);
	turn_all();
	if (what % 5 == 0)
		usleep(300);
	if (what % 3 == 0)
		turn(what, SOME, NULL);
	if (what % 4 == 1) {
		__atomic_fetch_sub(&detached, what & 1, __ATOMIC_RELEASE);
		turn(what / 4, END, NULL);
	}
	last_signal();
	__atomic_fetch_sub(&detached, what & 1, __ATOMIC_RELEASE);
	return NULL;
}

static void *births(void *data)
{
	pthread_t thread;

	for (long i = 0; !is_over(); i++) {
		if (i & 1)
			__atomic_fetch_add(&detached, 1, __ATOMIC_RELAXED);
		must(!pthread_create(&thread, NULL, short_life, (void *) i), "pthread_create");
		if (i & 1)
			pthread_detach(thread);
		else
			pthread_join(thread, NULL);
		usleep(1500);
		while (__atomic_load_n(&detached, __ATOMIC_ACQUIRE) > 6)
			usleep(300);
	}
	last_signal();
	return data;
}

static void wait_for(pid_t child, int expected, const char *what)
{
	int status = -1;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	must(WIFEXITED(status) && WEXITSTATUS(status) == expected, what);
}

static void *forks(void *data)
{
	for (int i = 0; !is_over(); i++) {
		pid_t child = fork();

		if (!child) {
			turn(i, CHILD, NULL);
			turn_all();
			if (i & 1)
				_exit(wrong ? 9 : 7);
			exit(wrong ? 9 : 7);
		}
		wait_for(child, 7, "a child's status");
		usleep(5000);
	}
	last_signal();
	return data;
}

/* Children that begin in the middle of a call, and some that return from it. */
static void *forks_within(void *data)
{
	pid_t self = getpid();

	for (int i = 0; !is_over(); i++) {
		turn(i, FORK, NULL);
		if (getpid() != self) {
			turn(i, SOME, NULL);
			exit(7);
		}
		usleep(9000);
	}
	last_signal();
	return data;
}

static void *spawns(void *data)
{
	char *words[] = { "crossing-life", "=", "40", NULL };
	pid_t child;

	for (int i = 0; !is_over(); i++) {
		must(!posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ), "posix_spawn");
		wait_for(child, 7, "a program's status");
		usleep(20000);
	}
	last_signal();
	return data;
}

static void *loads(void *data)
{
	for (int i = 0; !is_over(); i++) {
		void *library = dlopen("./libloaded.so", i % 3 ? RTLD_LAZY : RTLD_NOW);
		int (*outer)(int);

		must(library != NULL, "dlopen");
		if (!library)
			break;
		outer = dlsym(library, "loaded_outer");
		for (int k = 0; k <= i % 4; k++)
			must(turn(1, LOADED, outer) == 3 + 1234567 + 6 + 1234567, "a loaded function's result");
		dlclose(library);
		usleep(i % 5 * 1000 + 1000);
	}
	last_signal();
	return data;
}

static void *jumps(void *data)
{
	for (int i = 0; !is_over(); i++) {
		must(turn(i, JUMP, NULL) == i + 123456789, "the result after a jump");
		usleep(700);
	}
	last_signal();
	return data;
}

static void handlers(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 3100 }, { 0, 3100 } };

	sigaction(SIGUSR2, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	action.sa_flags |= SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	if (strchr(kinds, 'a'))
		setitimer(ITIMER_REAL, &often, NULL);
}

static void counts_map(int flags)
{
	int file = open("counts", O_RDWR | flags, 0600);

	if (file < 0 || ftruncate(file, 4096))
		exit(2);
	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
}

int main(int argc, char **argv)
{
	static const struct {
		char letter;
		void *(*work)(void *);
		long which;
	} all[] = {
		{ 't', steady, 0 }, { 't', steady, 1 }, { 'b', births }, { 'f', forks }, { 'n', forks_within }, { 'x', spawns },
		{ 'l', loads }, { 'j', jumps },
	};
	enum { KINDS = sizeof(all) / sizeof(all[0]) };
	pthread_t threads[KINDS];
	struct itimerval never = { { 0, 0 }, { 0, 0 } };

	if (argc == 3 && *argv[1] == '=') {
		counts_map(0);
		for (int i = atoi(argv[2]); i > 0; i--)
			turn_all();
		return wrong ? 9 : 7;
	}
	if (argc < 4)
		return 2;
	kinds = argv[1];
	end = argv[2];
	counts_map(O_CREAT | O_TRUNC);
	handlers();
	for (int i = 0; i < KINDS; i++)
		if (strchr(kinds, all[i].letter))
			pthread_create(&threads[i], NULL, all[i].work, (void *) all[i].which);
	for (int i = 0; i < KINDS; i++)
		if (strchr(kinds, all[i].letter))
			pthread_join(threads[i], NULL);
	while (__atomic_load_n(&detached, __ATOMIC_ACQUIRE))
		usleep(1000);
	setitimer(ITIMER_REAL, &never, NULL);
	usleep(50000);
	for (int i = 0; i < NAMES; i++)
		printf("%s %lu\n", names[i], counts[i]);
	puts("end");
	fflush(stdout);
	while (access(argv[3], F_OK))
		usleep(1000);
	return wrong != 0;
}
