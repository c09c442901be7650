/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Signals that come: raised, faults, pending ones, waited for, in children. Cases of the program `signals`. */
#define _GNU_SOURCE
#include "signals.h"

void case_raise(void)
{
	EACH(n) {
		handle(*n, on_info, SA_SIGINFO, 0);
		raise(*n);
		kill(getpid(), *n);
		sigqueue(getpid(), *n, (union sigval) { .sival_int = 42 });
		signal(*n, on_plain);
		raise(*n);
		sysv_signal(*n, on_plain);
		raise(*n);
		action_show(*n);
		signal(*n, SIG_IGN);
		raise(*n);
		calls();
		handle(*n, on_info, SA_SIGINFO, 1);
		raise(*n);
		mask_show("after");
	}
	printf("handled %d\n", handled);
}

void case_fault(void)
{
	static char stack[65536];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	FILE *file = tmpfile();

	sigaltstack(&ss, NULL);
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	handle(SIGSEGV, on_fault, SA_SIGINFO | SA_ONSTACK, 1);
	handle(SIGBUS, on_fault, SA_SIGINFO, 0);
	handle(SIGTRAP, on_info, SA_SIGINFO, 1);
	*(volatile char *) page = 1;
	printf("written %d\n", *page);
	if (!sigsetjmp(away, 1))
		*(volatile char *) (page + 8 - (uintptr_t) page) = 1;
	mask_show("after the jump");
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
	if (!sigsetjmp(away, 1))
		*(volatile char *) page = 1;
	mask_show("after the jump");
	own_trap();
	mask_show("after the trap");
	calls();
}

static void pending_show(void)
{
	sigset_t set;

	sigpending(&set);
	sigdelset(&set, SIGCHLD);	/* lttng-ust has a child while it starts */
	for (int i = 1; i <= 64; i++)
		if (sigismember(&set, i) == 1)
			printf("pending %d\n", i);
}

void case_pending(void)
{
	siginfo_t info;
	sigset_t all, trap;
	int number = 0;

	handle(SIGTRAP, on_info, SA_SIGINFO, 1);
	block_all();
	raise(SIGTRAP);
	calls();
	pending_show();
	sigfillset(&all);
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	printf("handled %d\n", handled);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	printf("handled %d\n", handled);
	block_all();
	kill(getpid(), SIGTRAP);
	pending_show();
	printf("sigwait %d", sigwait(&all, &number));
	printf(" %d\n", number);
	sigqueue(getpid(), SIGTRAP, (union sigval) { .sival_int = 7 });
	printf("sigwaitinfo %d", sigwaitinfo(&trap, &info));
	printf(" %d %d %d %d\n", info.si_signo, info.si_code, info.si_errno, info.si_value.sival_int);
	printf("sigtimedwait %d", sigtimedwait(&trap, NULL, &(struct timespec) { 0, 1000 }));
	printf(" %d\n", errno);
	kill(getpid(), SIGTRAP);
	signal(SIGTRAP, SIG_IGN);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	printf("handled %d\n", handled);
}

void case_wait(void)
{
	struct timespec soon = { 5, 0 };
	struct epoll_event event;
	sigset_t almost;
	int fd = epoll_create1(0);

	for (const int *n = (const int[]) { SIGUSR1, SIGTRAP, 0 }; *n; n++) {
		handle(*n, on_info, SA_SIGINFO, 1);
		block_all();
		sigfillset(&almost);
		sigdelset(&almost, *n);
		sigdelset(&almost, *n == SIGTRAP ? SIGSTKFLT : *n);
		kill(getpid(), *n);
		printf("sigsuspend %d", sigsuspend(&almost));
		printf(" %d\n", errno);
		kill(getpid(), *n);
		printf("ppoll %d", ppoll(NULL, 0, &soon, &almost));
		printf(" %d\n", errno);
		kill(getpid(), *n);
		printf("pselect %d", pselect(0, NULL, NULL, NULL, &soon, &almost));
		printf(" %d\n", errno);
		kill(getpid(), *n);
		printf("epoll_pwait %d", epoll_pwait(fd, &event, 1, 5000, &almost));
		printf(" %d\n", errno);
		mask_show("after");
	}
}

void case_children(void)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	int status;
	pid_t pid;

	handle(SIGSEGV, on_info, SA_SIGINFO, 1);
	handle(SIGTRAP, on_info, SA_SIGINFO, 1);
	block_all();
	fflush(stdout);
	pid = vfork();
	if (!pid) {
		sigset_t none;

		for (int i = 1; i < 32; i++)
			sigaction(i, &plain, NULL);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		t_tiny(t_tiny2(1));
		/* libc takes these two when a first thread is made: what was inherited for them is no matter */
		for (long own = 32; own <= 33; own++) {
			unsigned long action[4] = { 0 };

			syscall(SYS_rt_sigaction, own, action, NULL, 8L);
		}
		/* Not what it catches: a traced program has threads, for which libc takes a signal. */
		execve("/usr/bin/grep", (char *[]) { "grep", "-E", "Sig(Blk|Ign)", "/proc/self/status", NULL },
			(char *[]) { NULL });
		_exit(1);
	}
	waitpid(pid, &status, 0);
	printf("vforked %d\n", status);
	EACH(n)
		action_show(*n);
	mask_show("parent");
	calls();
	fflush(stdout);
	pid = fork();
	if (!pid) {
		mask_show("child");
		EACH(n)
			action_show(*n);
		signal(SIGTRAP, on_plain);
		signal(SIGSEGV, SIG_DFL);
		calls();
		sigsetmask(0);
		raise(SIGTRAP);
		exit(3);
	}
	waitpid(pid, &status, 0);
	printf("forked %d\n", status);
	EACH(n)
		action_show(*n);
}
