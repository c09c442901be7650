/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Enters a seccomp sandbox and goes on calling: `strict`, `filter` (kills for all
 * but five system calls), `all` (the same with SECCOMP_FILTER_FLAG_TSYNC), `narrow`
 * (kills for all that recording and this program do not need), `soft` (refuses one
 * call, allows the others), `probe` (enters none, but asks as libseccomp does), `tsc` (gives
 * up the processor's clock), `dispatch` (has its system calls end in its handler of SIGSYS). With
 * the second word `wait`, it then waits for its input to end, with `later` before. Ends with status 4: by the system call exit, or as the second word says, by
 * `exit`, `_exit`, or `fork`, in a child that calls on, first; `soft`, `probe`, `tsc` and `dispatch` by `exit`.
 */
#include <errno.h>
#include <signal.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int t_inner(int a)
{
	__asm__ __volatile__("");
	return a + 1;
}

__attribute__((noinline)) int t_middle(int a)
{
	__asm__ __volatile__("");
	return t_inner(a) + t_inner(a + 1);
}

__attribute__((noinline)) int t_outer(int a)
{
	__asm__ __volatile__("");
	return t_middle(a) * 3;
}

#define LET(name) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define NUMBER	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define KILL	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static void allow(struct sock_filter *code, unsigned short count, int all)
{
	struct sock_fprog program = { count, code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, all ? SECCOMP_FILTER_FLAG_TSYNC : 0, &program))
		perror("seccomp");
}

static void allow_five(int all)
{
	struct sock_filter code[] = { NUMBER, LET(write), LET(read), LET(exit), LET(exit_group), LET(rt_sigreturn), KILL };

	allow(code, sizeof(code) / sizeof(code[0]), all);
}

static void allow_recording(void)
{
	struct sock_filter code[] = {
		NUMBER, LET(write), LET(read), LET(exit), LET(exit_group), LET(rt_sigreturn), LET(mmap), LET(munmap), LET(rt_sigprocmask),
		LET(getpid), LET(gettid), LET(futex), LET(clone), LET(set_robust_list), LET(wait4), KILL,
	};

	allow(code, sizeof(code) / sizeof(code[0]), 0);
}

static void refuse_one(unsigned int number, unsigned int verdict)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, verdict),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		perror("prctl");
}

/* As libseccomp finds out what the kernel has: by calls that it refuses. */
static void probe(void)
{
	static const unsigned long flags[] = { SECCOMP_FILTER_FLAG_TSYNC, SECCOMP_FILTER_FLAG_LOG, SECCOMP_FILTER_FLAG_SPEC_ALLOW };

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) != -1 || errno != EINVAL)
		puts("strict mode was not refused");
	for (unsigned int i = 0; i < 3; i++)
		if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags[i], NULL) != -1 || errno != EFAULT)
			puts("a filter at NULL was not refused");
}

static int call_on(void)
{
	int sum = 0;

	for (int i = 0; i < 2000; i++)
		sum += t_outer(i);
	return sum;
}

static int child_calls(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(call_on() ? 7 : 8);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Selector and handler of PR_SET_SYSCALL_USER_DISPATCH (59): while it is blocked only that call comes. */
static volatile char blocked;
static volatile int wanted, others;

static void on_call(int sig, siginfo_t *info, void *context)
{
	(void) sig;
	(void) context;
	blocked = 0;
	if (info->si_syscall == 9999)
		wanted++;
	else
		others++;
}

static void dispatch(void)
{
	struct sigaction action = { .sa_sigaction = on_call, .sa_flags = SA_SIGINFO };
	int sum = 0;

	sigaction(SIGSYS, &action, NULL);
	if (prctl(59, 1, 0, 0, &blocked))
		perror("prctl");
	for (int i = 0; i < 2000; i++) {
		blocked = 1;
		sum += t_outer(i);
		if (i % 100 == 0)
			syscall(9999);
		blocked = 0;
	}
	printf("system calls: %d, others: %d%s\n", wanted, others, sum ? "" : "?");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "filter", *then = argc > 2 ? argv[2] : "";
	int sum = t_outer(1);
	char byte;

	if (!strcmp(then, "later")) {
		sum += (int) write(1, "ready\n", 6);
		while (read(0, &byte, 1) == 1)
			;
	}
	if (!strcmp(mode, "strict"))
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	else if (!strcmp(mode, "soft"))
		refuse_one(SYS_mkdir, SECCOMP_RET_ERRNO | 1);
	else if (!strcmp(mode, "no-socket"))
		refuse_one(SYS_socket, SECCOMP_RET_KILL_PROCESS);
	else if (!strcmp(mode, "no-sendmsg"))
		refuse_one(SYS_sendmsg, SECCOMP_RET_KILL_PROCESS);
	else if (!strcmp(mode, "probe"))
		probe();
	else if (!strcmp(mode, "tsc"))
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	else if (!strcmp(mode, "dispatch"))
		dispatch();
	else if (!strcmp(mode, "narrow"))
		allow_recording();
	else
		allow_five(!strcmp(mode, "all"));
	if (!strcmp(then, "wait")) {
		sum += (int) write(1, "ready\n", 6);
		while (read(0, &byte, 1) == 1)
			;
	}
	sum += call_on();
	if (!strcmp(then, "fork"))
		sum += child_calls() == 7 ? (int) write(1, "child\n", 6) : (int) write(1, "child?\n", 7);
	sum += (int) write(1, "done\n", 5);
	if (!strncmp(mode, "no-", 3) || !strcmp(mode, "soft") || !strcmp(mode, "probe") || !strcmp(mode, "tsc") || !strcmp(mode, "dispatch") || !strcmp(then, "exit"))
		return 4;
	if (!strcmp(then, "_exit") || !strcmp(then, "fork"))
		_exit(4);
	syscall(SYS_exit, sum ? 4 : 5);
}
