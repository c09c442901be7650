/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The test program `target`: one blocking system call, from ready to its return. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "target.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void deadline_in(struct timespec *t, clockid_t clock, int ms)
{
	clock_gettime(clock, t);
	t->tv_nsec += ms * 1000000L;
	t->tv_sec += t->tv_nsec / 1000000000;
	t->tv_nsec %= 1000000000;
}

long target_block(const char *how)
{
	struct timespec half = { 0, 600000000 }, at;
	struct epoll_event event;
	struct sembuf operation = { 0, -1, 0 };
	struct pollfd p = { 0, POLLIN, 0 };
	sigset_t set;
	fd_set fds;
	char c;
	int fd[2];

	errno = 0;
	if (!strcmp(how, "nanosleep"))
		return nanosleep(&half, NULL);
	if (!strcmp(how, "clock_nanosleep")) {
		deadline_in(&at, CLOCK_MONOTONIC, 600);
		return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
	if (!strcmp(how, "read"))
		return read(0, &c, 1);
	if (!strcmp(how, "poll"))
		return poll(&p, 1, -1);
	if (!strcmp(how, "poll_timeout"))
		return poll(NULL, 0, 600);
	if (!strcmp(how, "ppoll")) {
		sigfillset(&set);
		return ppoll(&p, 1, NULL, &set);
	}
	if (!strcmp(how, "select")) {
		FD_ZERO(&fds);
		FD_SET(0, &fds);
		return select(1, &fds, NULL, NULL, NULL);
	}
	if (!strcmp(how, "epoll_wait")) {
		int e = epoll_create1(0);

		event.events = EPOLLIN;
		epoll_ctl(e, EPOLL_CTL_ADD, 0, &event);
		return epoll_wait(e, &event, 1, -1);
	}
	if (!strcmp(how, "cond_timedwait")) {
		int r;

		deadline_in(&at, CLOCK_REALTIME, 600);
		pthread_mutex_lock(&mutex);
		do
			r = pthread_cond_timedwait(&condition, &mutex, &at);
		while (!r);
		return r == ETIMEDOUT ? 0 : r;
	}
	if (!strcmp(how, "sem_timedwait")) {
		sem_t s;

		sem_init(&s, 0, 0);
		deadline_in(&at, CLOCK_REALTIME, 600);
		return sem_timedwait(&s, &at) && errno == ETIMEDOUT ? (errno = 0) : -1;
	}
	if (!strcmp(how, "join")) {
		pthread_t thread;

		pthread_create(&thread, NULL, watch_stdin, NULL);
		return pthread_join(thread, NULL);
	}
	if (!strcmp(how, "recv")) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
			return -1;
		if (!fork()) {
			char d;
			long n = read(0, &d, 1);

			_exit(n < 0 || write(fd[1], "x", 1) != 1);
		}
		return recv(fd[0], &c, 1, 0);
	}
	if (!strcmp(how, "wait4")) {
		if (!fork())
			_exit(read(0, &c, 1) < 0);
		return wait(NULL) > 0 ? 0 : -1;
	}
	if (!strcmp(how, "semop")) {
		int id = semget(IPC_PRIVATE, 1, 0600);
		struct timespec limit = { 0, 600000000 };
		long r = semtimedop(id, &operation, 1, &limit);
		int e = errno;

		semctl(id, 0, IPC_RMID);
		errno = e == EAGAIN ? 0 : e;
		return r && e == EAGAIN ? 0 : -1;
	}
	if (!strcmp(how, "sigtimedwait")) {
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, NULL);
		if (sigtimedwait(&set, NULL, &half) < 0 && errno == EAGAIN)
			return errno = 0;
		return -1;
	}
	if (!strcmp(how, "interrupted")) {
		/* A handler without SA_RESTART must still end the read with EINTR. */
		struct sigaction action = { .sa_handler = count_signal };

		sigaction(SIGUSR1, &action, NULL);
		return read(0, &c, 1);
	}
	errno = EINVAL;
	return -2;
}
