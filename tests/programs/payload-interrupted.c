/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * payload-interrupted STEPPED returns|leaves [NAME=VALUE...] - a signal at each instruction of a call of work().
 *
 * The program runs itself under ptrace, with the environment that is named. Each round it stops, and calls work().
 * Round n gets SIGUSR1 at the nth instruction behind the one that work() begins with, where its jump is; after STEPPED
 * rounds it ends. The handler calls work() three times, and returns, or leaves by siglongjmp(). What is said at the end:
 * how many calls there were beside those that a handler may have left, and how many results were wrong.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK	"stepped"

static volatile long calls, wrong;
static sigjmp_buf back;
static int leaves;

__attribute__((noipa)) int work(int a)
{
	return a * 3 + 1;
}

static void call(int a)
{
	wrong += work(a) != a * 3 + 1;
}

static void handler(int number)
{
	for (int i = 0; i < 3; i++, calls++)
		call(number + i);
	if (leaves)
		siglongjmp(back, 1);
}

/* The address of work() as text comes first: whoever steps reads it. */
static int stepped(int rounds)
{
	volatile int kept = 0;

	signal(SIGUSR1, handler);
	printf("%lx\n", (unsigned long) (uintptr_t) work);
	fflush(stdout);
	for (int i = 0; i < 100; i++, calls++)
		call(i);
	for (volatile int i = 0; i < rounds; i++) {
		if (sigsetjmp(back, 1) == 0) {
			syscall(SYS_kill, getpid(), SIGSTOP);
			call(i);
			kept++;
		}
		call(i);
		calls++;
	}
	printf("calls %ld and %d, wrong %ld\n", calls, leaves ? rounds : kept, wrong);
	return 0;
}

/* One round: from the stop up to the instruction that is meant, and the signal there. */
static void round_step(pid_t target, unsigned long work_at, int most)
{
	struct user_regs_struct regs;
	int status, left = -1;

	for (;;) {
		ptrace(PTRACE_SINGLESTEP, target, NULL, NULL);
		if (waitpid(target, &status, 0) < 0 || !WIFSTOPPED(status) ||
				ptrace(PTRACE_GETREGS, target, NULL, &regs) < 0)
			return;
		if (left < 0 && regs.rip == work_at)
			left = most + 1;
		if (left >= 0 && --left < 0)
			break;
	}
	ptrace(PTRACE_CONT, target, NULL, (void *) (uintptr_t) SIGUSR1);
}

static int step(pid_t target, FILE *from)
{
	unsigned long work_at = 0;
	char line[200];
	int status, number, rounds = 0, is_seized = 0;

	if (!fgets(line, sizeof(line), from))
		return 1;
	work_at = strtoul(line, NULL, 16);
	while (waitpid(target, &status, WUNTRACED) == target && WIFSTOPPED(status)) {
		number = WSTOPSIG(status);
		if (!is_seized) {		/* at its first stop */
			is_seized = ptrace(PTRACE_SEIZE, target, NULL, NULL) == 0;
			kill(target, SIGCONT);
			ptrace(PTRACE_INTERRUPT, target, NULL, NULL);
			round_step(target, work_at, rounds++);
		} else if (number == SIGSTOP && !(status >> 16)) {
			round_step(target, work_at, rounds++);
		} else {
			ptrace(PTRACE_CONT, target, NULL, status >> 16 || number == SIGCONT ? NULL : (void *) (uintptr_t) number);
		}
	}
	while (fgets(line, sizeof(line), from))
		fputs(line, stdout);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int main(int argc, char **argv)
{
	int pipes[2];
	pid_t target;

	if (argc < 3)
		return 2;
	leaves = !strcmp(argv[2], "leaves");
	if (getenv(MARK))
		return stepped(atoi(argv[1]));
	if (pipe(pipes) < 0 || (target = fork()) < 0)
		return 1;
	if (target == 0) {
		for (int i = 3; i < argc; i++)
			putenv(argv[i]);
		putenv(MARK "=1");
		dup2(pipes[1], 1);
		close(pipes[0]);
		close(pipes[1]);
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	close(pipes[1]);
	return step(target, fdopen(pipes[0], "r"));
}
