#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program of one thread whose signal handler forks, within malloc() most of the time: libc's fork() would wait for malloc()'s lock
# because of the tracer's threads. It goes on, traced from its start and attached to. The trace says that such children are
# not traced.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >forks.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int forked, wrong;
__attribute__((noipa)) int look(int a) { return a + 1; }
static void again(void)
{
	struct itimerval soon = { { 0, 0 }, { 0, 1500 } };

	setitimer(ITIMER_REAL, &soon, NULL);
}
static void on_alarm(int number)
{
	int error = errno, status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(number);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	forked++;
	wrong += WEXITSTATUS(status) != number;
	look(forked);
	errno = error;
	again();
}
int main(int argc, char **argv)
{
	char *kept[64] = { 0 };
	unsigned int seed = 1;

	signal(SIGALRM, on_alarm);
	write(1, "ready\n", 6);
	while (argc == 3 && access(argv[2], F_OK))
		usleep(1000);
	again();
	while (forked < atoi(argv[1])) {
		seed = seed * 1103515245 + 12345;
		free(kept[seed >> 16 & 63]);
		kept[seed >> 16 & 63] = malloc((seed >> 8) % 3000 + 1100);
	}
	signal(SIGALRM, SIG_IGN);
	printf("wrong: %d\n", wrong);
	return wrong != 0;
}
C
gcc -O1 -g -o forks forks.c || { echo "Bail out! gcc"; exit 1; }

timeout -k 5 $((40 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f look -o started ./forks 60 >out 2>err
is $? 0 "started: status" || diag "$(tail -n 3 err)"
is "$(tail -n 1 out)" "wrong: 0" "started: its children"
is "$(spi_count started look_entry)" 60 "started: the handler's calls are recorded"
like "$(cat err)" 'made by a signal handler within malloc' "started: what is not traced is told" || diag "$(cat err)"

background ./forks 500 go
timeout -k 5 $((20 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f look -o first -p "$target" --duration 0.1 >out 2>err
is $? 0 "attached, before it forks: status" || diag "$(tail -n 3 err)"
touch go
timeout -k 5 $((20 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f look -o attached -p "$target" --duration 2 >out 2>err
is $? 0 "attached, while it forks: status" || diag "$(tail -n 3 err)"
wait "$target"
is "$?, $(tail -n 1 target.out)" "0, wrong: 0" "attached: its children"
[ "$(spi_count attached look_entry)" -gt 20 ]
ok $? "attached: the handler's calls are recorded"
like "$(cat err)" 'made by a signal handler within malloc' "attached: what is not traced is told"
tap_done
