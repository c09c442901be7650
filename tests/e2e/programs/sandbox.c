/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Enters a seccomp sandbox and goes on calling: `strict`, `filter` (kills for all
 * but five system calls), `all` (the same with SECCOMP_FILTER_FLAG_TSYNC), `soft`
 * (refuses one call, allows the others). With a second word, it then waits for its
 * input to end. Ends with status 4: `soft` as usual, the others by the system call exit.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

static void allow_five(int all)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, all ? SECCOMP_FILTER_FLAG_TSYNC : 0, &program))
		perror("seccomp");
}

static void refuse_one(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdir, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		perror("prctl");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "filter";
	int sum = t_outer(1);
	char byte;

	if (!strcmp(mode, "strict"))
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	else if (!strcmp(mode, "soft"))
		refuse_one();
	else
		allow_five(!strcmp(mode, "all"));
	if (argc > 2) {
		sum += (int) write(1, "ready\n", 6);
		while (read(0, &byte, 1) == 1)
			;
	}
	for (int i = 0; i < 2000; i++)
		sum += t_outer(i);
	sum += (int) write(1, "done\n", 5);
	if (!strcmp(mode, "soft"))
		return 4;
	syscall(SYS_exit, sum ? 4 : 5);
}
