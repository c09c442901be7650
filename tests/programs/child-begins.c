/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * child-begins MODE - a forked child looks how many threads it has, and calls work() only then:
 *
 *   alone    once
 *   never    not at all; it ends by exit(), with a thread of its own that has not ended and a cleanup for when it is cancelled
 *   executes not at all: it becomes /bin/true
 *   thread   in a thread of its own, then in its first one, and says both ids
 *   child    not; but its own child, forked by it, does
 *   stack    in a handler on a small stack, then in main()
 *   daemon   once for each line of input; its parent makes it when there is a first one
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noipa)) int work(int a)
{
	return a + 1;
}

static int threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

static void *works(void *unused)
{
	(void) unused;
	printf("thread %s\n", work(10) == 11 && syscall(SYS_gettid) != getpid() ? "works" : "fails");
	return NULL;
}

static void cancelled(void *unused)
{
	(void) unused;
	static const char text[] = "cancelled\n";

	if (write(1, text, sizeof(text) - 1) < 0)
		_exit(9);
}

static void *waits(void *unused)
{
	pthread_cleanup_push(cancelled, unused);
	for (;;)
		pause();
	pthread_cleanup_pop(0);
	return NULL;
}

static void on_usr1(int number)
{
	work(number);
}

static int child(const char *mode)
{
	pthread_t thread;
	char line[16];
	int status = 0;

	printf("child: %d threads\n", threads());
	if (!strcmp(mode, "executes"))
		execl("/bin/true", "true", NULL);
	if (!strcmp(mode, "never")) {
		for (int i = 0; i < 4; i++)
			pthread_create(&thread, NULL, waits, NULL);
		exit(7);
	}
	if (!strcmp(mode, "thread")) {
		pthread_create(&thread, NULL, works, NULL);
		pthread_join(thread, NULL);
	}
	if (!strcmp(mode, "child")) {
		if (!fork())
			_exit(work(6));
		wait(&status);
		_exit(WEXITSTATUS(status));
	}
	if (!strcmp(mode, "stack")) {
		struct sigaction action = { .sa_handler = on_usr1, .sa_flags = SA_ONSTACK };
		stack_t stack = { .ss_sp = malloc(16384), .ss_size = 16384 };

		sigaltstack(&stack, NULL);
		sigaction(SIGUSR1, &action, NULL);
		raise(SIGUSR1);
	}
	if (!strcmp(mode, "daemon")) {
		for (int i = 0; fgets(line, sizeof(line), stdin); i++)
			printf("%d\n", work(i));
		return 7;
	}
	return work(6);
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2)
		return 2;
	printf("main %d\n", work(0));
	if (!strcmp(argv[1], "daemon") && getchar() == EOF)
		return 1;
	pid = fork();
	if (!pid)
		return child(argv[1]);
	if (!strcmp(argv[1], "daemon"))
		printf("pid %d\n", (int) pid);
	waitpid(pid, &status, 0);
	printf("status %x\n", status);
	return 0;
}
