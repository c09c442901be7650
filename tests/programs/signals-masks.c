/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Blocking, handling, and waits that take a mask: cases of the program `signals`. */
#define _GNU_SOURCE
#include "signals.h"

void case_block(void)
{
	sigset_t set, old;

	calls();
	block_all();
	mask_show("all");
	calls();
	thread_run("thread");
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_UNBLOCK, &set, &old);
	mask_show("without SIGINT");
	sigaddset(&set, SIGTRAP);
	sigaddset(&set, SIGSTKFLT);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	mask_show("without SIGTRAP");
	calls();
	sigprocmask(SIG_SETMASK, &old, &set);
	mask_show("as before");
	printf("%d %d\n", sigismember(&old, SIGTRAP), sigismember(&set, SIGTRAP));
	sigprocmask(SIG_SETMASK, &set, NULL);
	printf("%d", sigprocmask(77, &set, NULL));
	printf(" %d %d\n", errno, pthread_sigmask(77, &set, NULL));
	sighold(SIGUSR2);
	sigsetmask(~0);
	mask_show("sigsetmask");
	calls();
	sigrelse(SIGUSR2);
	mask_show("sigrelse");
}

void case_actions(void)
{
	EACH(n) {
		int number = *n;

		action_show(number);
		handle(number, on_info, SA_SIGINFO | SA_ONSTACK, 0);
		handle(number, on_info, (int) (SA_SIGINFO | SA_RESTART | SA_NODEFER | SA_RESETHAND), 1);
		printf("signal %d\n", signal(number, on_plain) == (sighandler_t) on_info);
		action_show(number);
		siginterrupt(number, 1);
		action_show(number);
		printf("sysv %d\n", sysv_signal(number, on_plain) == on_plain);
		action_show(number);
		printf("ignore %d\n", signal(number, SIG_IGN) == on_plain);
		action_show(number);
		printf("sigset %d\n", sigset(number, on_plain) == SIG_IGN);
		action_show(number);
		printf("sigset %d\n", sigset(number, SIG_HOLD) == on_plain);
		printf("sigset %d\n", sigset(number, SIG_DFL) == SIG_HOLD);
		action_show(number);
		errno = 0;
		printf("bad %d", signal(number, SIG_ERR) == SIG_ERR);
		printf(" %d\n", errno);
		sigignore(number);
		action_show(number);
		signal(number, SIG_DFL);
		calls();
	}
	printf("%d", sigaction(SIGKILL, &(struct sigaction) { 0 }, NULL));
	printf(" %d", errno);
	printf(" %d", sigaction(99, NULL, NULL));
	printf(" %d\n", errno);
}

static void on_timer(union sigval value)
{
	mask_show("timer");
	calls();
	sem_post(value.sival_ptr);
}

/* libc runs it in a thread with all signals blocked. */
static void timed(void)
{
	sem_t done;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_timer,
		.sigev_value.sival_ptr = &done };
	struct itimerspec soon = { .it_value.tv_nsec = 1000000 };
	timer_t timer;

	sem_init(&done, 0, 0);
	printf("timer %d", timer_create(CLOCK_MONOTONIC, &event, &timer));
	printf(" %d\n", timer_settime(timer, 0, &soon, NULL));
	sem_wait(&done);
	timer_delete(timer);
}

/* A thread that begins with its own mask, and waits that take a mask. */
void case_begin(void)
{
	sigset_t set, other;
	pthread_attr_t attr;
	pthread_t thread;

	sigfillset(&set);
	sigemptyset(&other);
	pthread_attr_init(&attr);
	printf("attr %d", pthread_attr_setsigmask_np(&attr, &set));
	printf(" %d", pthread_attr_getsigmask_np(&attr, &other));
	printf(" %d %d\n", sigismember(&other, SIGTRAP), sigismember(&other, SIGINT));
	pthread_create(&thread, &attr, in_thread, "its own");
	pthread_join(thread, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_attr_setsigmask_np(&attr, &set);
	pthread_create(&thread, &attr, in_thread, "another");
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);

	handle(SIGUSR1, on_calling, SA_SIGINFO, 0);
	handle(SIGTRAP, on_info, SA_SIGINFO, 0);
	timed();
	block_all();
	raise(SIGUSR1);
	printf("sigpause %d", bsd_sigpause(~(1 << (SIGUSR1 - 1))));
	printf(" %d\n", errno);
	raise(SIGTRAP);
	printf("sigpause %d", xpg_sigpause(SIGTRAP));
	printf(" %d\n", errno);
	mask_show("after sigpause");
	calls();
}
