/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * messages-hard WHAT - messages in states that programs get into:
 *	threads	four threads send through one pipe that is full most of the time, so that their calls overlap
 *	locked	the same, one at a time
 *	left	a thread is cancelled in read(), and another leaves it by siglongjmp(); then messages go on
 *	handler	a signal's handler sends a byte to its own program, 2 000 times
 *	errors	calls that fail: each one's result and errno
 *	bad	a datagram from memory that is not there, and good ones around it
 * What it prints is the same without a tracer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#define MESSAGES 1000

static int fds[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_locked;

static void *sends(void *data)
{
	char buffer[100];

	memset(buffer, 'x', sizeof(buffer));
	for (long i = 0; i < MESSAGES; i++) {
		if (is_locked)
			pthread_mutex_lock(&lock);
		if (write(fds[1], buffer, 1 + (size_t) (i * 7 + (long) data) % 100) < 0)
			abort();
		if (is_locked)
			pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void threads(void)
{
	static char buffer[512];
	pthread_t thread[4];
	long all = 0, n;

	if (!is_locked)
		fcntl(fds[1], F_SETPIPE_SZ, 8192);
	for (long i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, sends, (void *) i);
	for (long expected = 4 * MESSAGES * 50; all < expected - 2000; all += n)
		n = read(fds[0], buffer, sizeof(buffer));
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	close(fds[1]);
	while ((n = read(fds[0], buffer, sizeof(buffer))) > 0)
		all += n;
	printf("%ld bytes\n", all);
}

static sigjmp_buf back;

static void leaves(int number)
{
	siglongjmp(back, number);
}

static void *waits(void *ready)
{
	char c;

	*(volatile int *) ready = 1;
	return read(fds[0], &c, 1) < 0 ? NULL : ready;
}

static void left(void)
{
	volatile int ready = 0;
	pthread_t thread;
	char buffer[10];

	pthread_create(&thread, NULL, waits, (void *) &ready);
	while (!ready)
		usleep(1000);
	usleep(20000);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	signal(SIGALRM, leaves);
	if (!sigsetjmp(back, 1)) {
		setitimer(ITIMER_REAL, &(struct itimerval) { .it_value = { 0, 50000 } }, NULL);
		if (read(fds[0], buffer, 1))
			abort();
	}
	for (int i = 0; i < 5; i++)
		if (write(fds[1], "message", 7) != 7 || read(fds[0], buffer, 10) != 7)
			abort();
	puts("left");
}

static volatile sig_atomic_t sent;

static void rings(int number)
{
	const int error = errno;

	(void) number;
	if (sent < 2000 && write(fds[1], "r", 1) == 1)
		sent++;
	errno = error;
}

static void handler(void)
{
	long all = 0;
	char buffer[64];

	signal(SIGALRM, rings);
	setitimer(ITIMER_REAL, &(struct itimerval) { { 0, 200 }, { 0, 200 } }, NULL);
	while (all < 2000) {
		ssize_t n = read(fds[0], buffer, sizeof(buffer));

		all += n > 0 ? n : 0;
	}
	setitimer(ITIMER_REAL, &(struct itimerval) { { 0, 0 }, { 0, 0 } }, NULL);
	printf("%ld rings\n", all);
}

static void result(const char *what, long n)
{
	printf("%s %ld %d\n", what, n, n < 0 ? errno : 0);
	errno = ESTALE;
}

static void *volatile nowhere = (void *) 16;

static void errors(void)
{
	char buffer[10];
	int pair[2], one;

	signal(SIGPIPE, SIG_IGN);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	result("empty", read(fds[0], buffer, 10));
	result("nowhere", write(fds[1], nowhere, 10));
	result("nowhere", writev(fds[1], nowhere, 2));
	result("good", write(fds[1], "abc", 3));
	printf("errno stays: %d\n", errno == ESTALE);
	result("into nowhere", read(fds[0], nowhere, 10));
	result("good", read(fds[0], buffer, 10));
	printf("errno stays: %d\n", errno == ESTALE);
	result("wrong end", read(fds[1], buffer, 10));
	result("closed", write(-1, buffer, 10));
	close(fds[0]);
	result("broken", write(fds[1], buffer, 10));
	one = socket(AF_INET, SOCK_STREAM, 0);
	result("not connected", send(one, buffer, 10, 0));
	result("not connected", recv(one, buffer, 10, 0));
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
	result("packet", send(pair[0], "0123456789", 10, 0));
	result("packet", send(pair[0], "abcde", 5, 0));
	result("cut", recv(pair[1], buffer, 4, 0));
	result("whole", recv(pair[1], buffer, 10, 0));
	result("message", sendmsg(pair[0], nowhere, 0));
	result("message", recvmsg(pair[0], NULL, MSG_DONTWAIT));
	result("messages", sendmmsg(pair[0], NULL, 3, 0));
	result("messages", recvmmsg(pair[0], nowhere, 3, MSG_DONTWAIT, NULL));
}

static void bad(void)
{
	char buffer[100], *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int pair[2];

	munmap(page + 4096, 4096);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	result("good", send(pair[0], page + 4000, 50, 0));
	result("half", send(pair[0], page + 4000, 150, 0));
	result("empty", send(pair[0], page + 4000, 0, 0));
	result("good", recv(pair[1], buffer, 100, 0));
	result("empty", recv(pair[1], buffer, 100, 0));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (pipe(fds))
		return 2;
	if (!strcmp(what, "threads") || !strcmp(what, "locked")) {
		is_locked = what[0] == 'l';
		threads();
	} else if (!strcmp(what, "left")) {
		left();
	} else if (!strcmp(what, "handler")) {
		handler();
	} else if (!strcmp(what, "errors")) {
		errors();
	} else if (!strcmp(what, "bad")) {
		bad();
	} else {
		return 2;
	}
	return 0;
}
