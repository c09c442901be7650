#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Programs that change their user and group ids: libc has each thread of the process
# do that, and waits for it, so none of the tracer's may keep libc's signals out. In the
# process that was started, in its children, with threads of its own, in one that runs already, and in
# the children of one that is not traced any more.
. "${SPI_TOP_SRCDIR:?}/tests/lib/follow.sh"
spi_private "$@"
spi_daemon
tree_tools
cat >drop.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int sink;
static int ends[2];
__attribute__((noipa)) void t_leaf(void) { sink++; }
static void *thread(void *unused)
{
	char byte;

	t_leaf();
	while (read(ends[0], &byte, 1))
		;
	t_leaf();
	return unused;
}
__attribute__((noipa)) void t_drop(void)
{
	t_leaf();
	if (setgid(getgid()) || setuid(getuid()) || setresuid(-1, geteuid(), -1))
		perror("set ids");
	t_leaf();
}
int main(int argc, char **argv)
{
	char line[20];
	pthread_t id;
	int status = 0, wait_for_line = argc > 1 && !strcmp(argv[1], "wait");

	if (argc > 1 && !strcmp(argv[1], "daemon")) {
		if (fork())
			_exit(0);
		wait_for_line = 1;
	}
	if (wait_for_line) {
		puts("ready");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 2;
	}
	t_drop();
	if (pipe(ends))
		return 2;
	pthread_create(&id, NULL, thread, NULL);
	t_drop();
	if (!fork()) {
		t_drop();
		_exit(3);
	}
	wait(&status);
	t_drop();
	close(ends[1]);
	pthread_join(id, NULL);
	printf("%d\n", WEXITSTATUS(status));
	return 0;
}
C
spi_cc drop ./drop.c
spi_trace_same "a function" f ./drop -f t_leaf
for options in "" "--compact"; do
	followed "tree $options" "$options" timeout -s KILL 20 ./drop
	rm -rf p in tool.err waits.out && mkfifo in
	timeout -s KILL 40 ./drop wait <in >waits.out 2>&1 &
	exec {to}>in
	spi_wait 10 file_has waits.out ready
	target=$(pgrep -x drop)
	"$SPI_LTTNG" trace --tree $options -p "$target" -o p 2>tool.err {to}>&- &
	spi_wait 20 file_has tool.err 'Trace directory' || diag "$(cat tool.err)"
	echo >&"$to"
	spi_wait 20 pid_gone "$target"
	ok $? "running $options: it comes to its end" || kill -KILL "$target"
	exec {to}>&-
	wait
	is "$(tr '\n' ' ' <waits.out)" "ready 3 " "running $options: output"
done
for options in "" "--compact"; do
	rm -rf p in tool.err waits.out && mkfifo in
	exec {to}<>in
	timeout -s KILL 20 "$SPI_LTTNG" trace --tree $options -o p ./drop daemon <in >waits.out 2>tool.err {to}>&-
	is $? 0 "left behind $options: the trace is over"
	spi_wait 10 file_has waits.out ready
	target=$(pgrep -x drop)
	echo >&"$to"
	spi_wait 20 pid_gone "$target"
	ok $? "left behind $options: it comes to its end" || kill -KILL "$target"
	exec {to}>&-
	is "$(tr '\n' ' ' <waits.out)" "ready 3 " "left behind $options: output"
done
tap_done
