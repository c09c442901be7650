/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * forks [DIRECTORY] - for each character of the input a child that is in read() from then on, until its parent has
 * ended; with a DIRECTORY, which it then cannot leave, the child finds nobody's socket.
 */
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) int child_waits(int from)
{
	char c;
	int n = 0;

	while (read(from, &c, 1) > 0)
		n++;
	__asm__ volatile("" : "+r" (n));
	return n;
}

__attribute__((noinline)) int child_make(const int *ends)
{
	pid_t pid = fork();

	if (pid == 0) {
		close(ends[1]);
		printf("child %d\n", (int) getpid());
		_exit(child_waits(ends[0]));
	}
	__asm__ volatile("" : "+r" (pid));
	return pid > 0;
}

int main(int argc, char **argv)
{
	int ends[2], made = 0;
	char c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (pipe(ends) || (argc > 1 && (chroot(argv[1]) || chdir("/"))))
		return 1;
	puts("ready");
	while (read(0, &c, 1) > 0)
		made += child_make(ends);
	return made;
}
