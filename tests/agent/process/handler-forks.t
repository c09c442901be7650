#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# A handler in a thread that is within malloc(), while another thread forks: fork() waits for malloc()'s lock, with the agent's
# taken, and nobody for the other. The handler installs itself anew, as System V's had to; goes through the loaded
# objects, as profilers' unwinders do; looks at its stack with an unwinder that only a library of dlopen() brought; or closes a
# descriptor.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
cat >forks.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile int stop;
static volatile int looks, failed;
static int (*walk)(void);
static void again(int number) { signal(number, again); }
static int look(struct dl_phdr_info *info, size_t size, void *data) { return !info || !size || data; }
static void objects(int number) { looks += dl_iterate_phdr(look, NULL) + number; }
static void closes(int number) { int fd = fcntl(0, F_DUPFD, 400); failed |= fd < 0 || close(fd) || !number; }
static void unwinds(int number) { looks += walk() + number; }
static void *allocate(void *data)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct itimerspec every = { { 0, 200000 }, { 0, 200000 } };
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

	if (*argv[2] == 'u') {
		*(void **) &walk = dlsym(dlopen("./walk.so", RTLD_NOW | RTLD_LOCAL), "walk");
		walk();
	}
	signal(SIGUSR1, *argv[2] == 'a' ? again : *argv[2] == 'o' ? objects : *argv[2] == 'c' ? closes : unwinds);
	pthread_create(&thread, NULL, allocate, NULL);
	for (int i = 0; i < atoi(argv[1]); i++) {
		pid_t pid = fork();

		if (!pid && i % 2)
			exit(0);
		if (!pid)
			_exit(0);
		while (waitpid(pid, NULL, 0) < 0)
			;
	}
	stop = 1;
	pthread_join(thread, NULL);
	for (int fd = 400; fd < 800; fd++)
		if (*argv[2] == 'c' && fcntl(fd, F_GETFD) >= 0)
			return 3;
	return failed ? 4 : argc != 3;
}
C
cat >walk.c <<'C'
#include <unwind.h>
static _Unwind_Reason_Code each(struct _Unwind_Context *context, void *data)
{
	*(int *) data += _Unwind_GetIP(context) != 0;
	return _URC_NO_REASON;
}
int walk(void)
{
	int n = 0;

	_Unwind_Backtrace(each, &n);
	return n;
}
C
gcc -O1 -g -pthread -o forks forks.c && gcc -O1 -g -shared -fPIC -o walk.so walk.c -Wl,--no-as-needed -lgcc_s ||
	{ echo "Bail out! gcc"; exit 1; }
left_out=(--exclude '*alloc*' --exclude '*free*' --exclude 'unlink_chunk*')
# goes_on WHAT OPTION... - forks, with that handler, traced so
goes_on() {
	local what=$1
	shift
	rm -rf t
	timeout -k 5 $((45 * SPI_PATIENCE)) "$SPI_LTTNG" -q trace "$@" -o t ./forks 40 "$what" 2>traced.err
	is $? 0 "$what, $*: it goes on to its end" || diag "$(tail -n 3 traced.err)"
}
goes_on again --tree --lib forks --lib libc.so.6 "${left_out[@]}"
goes_on again --tree --compact "${left_out[@]}"
goes_on objects --tree --lib forks
goes_on objects -f look
goes_on unwinds --tree --lib forks --compact
goes_on unwinds -f look
goes_on closes -f look
goes_on closes --tree --lib forks
tap_done
