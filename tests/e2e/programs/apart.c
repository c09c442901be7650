/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls work() ten times where it cannot be recorded: `timer`, a thread that blocks signal 32; `sandbox`, a thread's first
 * calls when another one is in a sandbox that kills for most system calls; `keys`, a destructor of a thread's key in each of
 * four rounds.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noipa)) int work(int a)
{
	return a + 1;
}

static int go[2];
static pthread_key_t key;
static int rounds;

static void *timer(void *unused)
{
	unsigned long mask = 1ul << 31;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, sizeof(mask));
	for (int i = 0; i < 10; i++)
		work(i);
	return unused;
}

static void *late(void *unused)
{
	char byte;

	if (read(go[0], &byte, 1) == 1)
		for (int i = 0; i < 10; i++)
			work(i);
	return unused;
}

#define LET(name) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void sandbox(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		LET(write), LET(read), LET(exit), LET(exit_group), LET(rt_sigreturn), LET(mmap), LET(munmap), LET(rt_sigprocmask),
		LET(getpid), LET(gettid), LET(futex), LET(clone), LET(set_robust_list), LET(madvise),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		perror("prctl");
}

static void destructor(void *value)
{
	if (++rounds < 4)
		pthread_setspecific(key, value);
	for (int i = 0; i < 10; i++)
		work(i);
}

static void *keys(void *value)
{
	pthread_setspecific(key, value);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	void *(*start)(void *) = !strcmp(way, "timer") ? timer : !strcmp(way, "sandbox") ? late : keys;
	pthread_t thread;

	work(0);
	if (pipe(go) || pthread_key_create(&key, destructor) || pthread_create(&thread, NULL, start, &key))
		return 1;
	if (!strcmp(way, "sandbox"))
		sandbox();
	if (write(go[1], "", 1) != 1)
		return 2;
	pthread_join(thread, NULL);
	return 5;
}
