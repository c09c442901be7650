// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 the lttng-spi authors
//
// unwinds MODE N: N times a signal's handler unwinds the stack through the calls that it interrupted. Prints how often that happened, and
// how many objects were destroyed on the way, in the handler and in what was interrupted. That is leaf() or busy(), at any
// instruction: functions with objects can be left so at their calls only.
//
//	exit	pthread_exit() in a thread of its own each time
//	stack	the same on an alternate signal stack
//	point	a cancellation point, of a thread that was cancelled
//	due	no handler: a thread that was cancelled makes calls until it comes to the one cancellation point that it has
//	throw	an exception
//	nested	an exception of a handler that interrupted another handler's calls, which takes it, and returns
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <sys/time.h>

#define FN __attribute__((noipa))

static volatile int made, is_between_points, destroyed, may_throw, times, wanted;

struct counts {
	~counts() { destroyed = destroyed + 1; }
};

static FN int leaf(int n)
{
	return n ? leaf(n - 1) + 1 : 0;
}

static FN int busy(int n)
{
	int all = 0;

	may_throw = 1;
	for (int i = 0; i < n; i++) {
		all += leaf(i % 7);
		made = made + 1;
		if (i % 128 == 127)
			sched_yield();		// who is to send the signal may wait for this processor
	}
	may_throw = 0;
	return all;
}

static void ends(int)
{
	counts in_the_handler;
	pthread_exit((void *) 42L);
}

static void comes_to_a_point(int)
{
	counts in_the_handler;
	pthread_testcancel();
}

static void throws(int)
{
	counts in_the_handler;
	if (may_throw && times < wanted) {
		may_throw = 0;
		times = times + 1;
		throw 1;
	}
}

// What it calls is interrupted in its turn, and it takes the exception.
static void takes(int)
{
	int was = may_throw;

	try {
		while (times < wanted)
			busy(1000);
	} catch (int) {
	}
	may_throw = was;
}

static void on_signal(int signal, void (*handler)(int), int flags, int with = 0)
{
	struct sigaction action = {};

	action.sa_handler = handler;
	action.sa_flags = flags;
	if (with)
		sigaddset(&action.sa_mask, with);
	sigaction(signal, &action, nullptr);
}

static FN void *runs(void *)
{
	counts in_the_thread;
	static char room[1 << 16];
	stack_t stack = {};

	stack.ss_sp = room;
	stack.ss_size = sizeof(room);
	sigaltstack(&stack, nullptr);
	for (;;)
		busy(1 << 30);
}

static FN void *has_a_point(void *)
{
	counts in_the_thread;

	for (;;) {
		is_between_points = 1;
		busy(1000);
		is_between_points = 0;
		pthread_testcancel();
	}
}

static int ends_threads(int n, void *(*start)(void *), bool is_cancelled)
{
	int odd = 0;

	for (int i = 0; i < n; i++) {
		const int until = 100 + i * 7919 % 400;
		pthread_t thread;
		void *result;

		made = 0;
		if (pthread_create(&thread, nullptr, start, nullptr))
			return -1;
		while (made < until)
			sched_yield();
		if (is_cancelled)
			pthread_cancel(thread);
		if (start == runs)
			pthread_kill(thread, SIGUSR1);
		pthread_join(thread, &result);
		odd += result != (is_cancelled ? PTHREAD_CANCELED : (void *) 42L) || is_between_points;
	}
	return n - odd;
}

static FN void once()
{
	counts in_what_is_left;

	busy(1000);
}

static void signals_come(int which, int us)
{
	struct itimerval every = { { 0, us }, { 0, us } };

	setitimer(which, &every, nullptr);
}

static int takes_exceptions(int n)
{
	int taken = 0;
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	wanted = n;
	on_signal(SIGALRM, throws, 0);
	signals_come(ITIMER_REAL, 170);
	while (times < n)
		try {
			once();
		} catch (int) {
			taken++;
			sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
		}
	signals_come(ITIMER_REAL, 0);
	return taken;
}

static int takes_within(int n)
{
	wanted = n;
	on_signal(SIGALRM, throws, 0, SIGPROF);
	on_signal(SIGPROF, takes, 0);
	signals_come(ITIMER_REAL, 170);
	signals_come(ITIMER_PROF, 1000);
	while (times < n)
		leaf(3);
	signals_come(ITIMER_PROF, 0);
	signals_come(ITIMER_REAL, 0);
	return times;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 10;

	if (!strcmp(mode, "throw")) {
		printf("%d\n", takes_exceptions(n));
	} else if (!strcmp(mode, "nested")) {
		printf("%d\n", takes_within(n));
	} else {
		bool is_due = !strcmp(mode, "due"), is_cancelled = is_due || !strcmp(mode, "point");

		on_signal(SIGUSR1, is_cancelled ? comes_to_a_point : ends, !strcmp(mode, "stack") ? SA_ONSTACK : 0);
		n = ends_threads(n, is_due ? has_a_point : runs, is_cancelled);
		printf("%d %d\n", n, destroyed);
	}
	return 0;
}
