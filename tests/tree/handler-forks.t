#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# A handler installs itself anew each time, as System V's had to, in a thread that is within malloc(), while another thread
# forks: fork() waits for malloc()'s lock, with the agent's taken, and nobody for the other.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
cat >forks.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile int stop;
static void handler(int number) { signal(number, handler); }
static void *allocate(void *data)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct itimerspec every = { { 0, 50000 }, { 0, 50000 } };
	char *kept[64] = { 0 };
	unsigned int seed = 1;
	timer_t timer;

	event._sigev_un._tid = (pid_t) syscall(SYS_gettid);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &every, NULL);
	while (!stop) {
		seed = seed * 1103515245 + 12345;
		free(kept[seed >> 16 & 63]);
		kept[seed >> 16 & 63] = malloc((seed >> 8) % 3000 + 1100);
	}
	timer_delete(timer);
	return data;
}
int main(int argc, char **argv)
{
	pthread_t thread;

	signal(SIGUSR1, handler);
	pthread_create(&thread, NULL, allocate, NULL);
	for (int i = 0; i < atoi(argv[1]); i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		while (waitpid(pid, NULL, 0) < 0)
			;
	}
	stop = 1;
	pthread_join(thread, NULL);
	return argc != 2;
}
C
gcc -O1 -g -pthread -o forks forks.c || { echo "Bail out! gcc"; exit 1; }
for options in '--tree --lib forks --lib libc.so.6' '--tree --compact'; do
	rm -rf t
	# shellcheck disable=SC2086
	timeout 45 "$SPI_LTTNG" -q trace $options --exclude '*alloc*' --exclude '*free*' --exclude 'unlink_chunk*' -o t ./forks 40 2>traced.err
	is $? 0 "$options: it goes on to its end" || diag "$(tail -n 3 traced.err)"
done
tap_done
