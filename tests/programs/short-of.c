/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* short-of keys|files|threads|membarrier|shm - takes all that there is, or may have no more, says so, and calls until it has input */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY	65534

__attribute__((noinline, noipa)) int t_work(int a)
{
	return a + 1;
}

static int without_keys(void)
{
	pthread_key_t key;

	while (!pthread_key_create(&key, NULL))
		;
	return 0;
}

static int without_files(void)
{
	return setrlimit(RLIMIT_NOFILE, &(struct rlimit) { 8, 8 });
}

static int without_threads(void)
{
	return setrlimit(RLIMIT_NPROC, &(struct rlimit) { 1, 1 }) || setgid(NOBODY) || setuid(NOBODY);
}

static int without_membarrier(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),	/* MEMBARRIER_CMD_QUERY */
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* A /dev/shm of its own, which a file fills. */
static int without_shm(void)
{
	char page[4096] = { 1 };
	int fd;

	if (unshare(CLONE_NEWNS) || mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=16k"))
		return -1;
	fd = open("/dev/shm/full", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (write(fd, page, sizeof(page)) > 0)
		;
	return close(fd);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*take)(void);
	} ways[] = {
		{ "keys", without_keys }, { "files", without_files }, { "threads", without_threads }, { "membarrier", without_membarrier },
		{ "shm", without_shm },
	};
	struct pollfd input = { 0, POLLIN, 0 };
	int sum = 0;

	for (unsigned int i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (argc > 1 && !strcmp(argv[1], ways[i].name) && ways[i].take()) {
			perror(argv[1]);
			return 1;
		}
	puts("ready");
	fflush(stdout);
	while (!poll(&input, 1, 1))
		sum += t_work(1);
	puts(sum ? "done" : "no call");
	return 3;
}
