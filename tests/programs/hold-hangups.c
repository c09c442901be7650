/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Preloaded into lttng-sessiond: as long as the file $HOLD_HANGUPS is there, the thread that unregisters applications
 * does not hear of their ends, as on a machine where it gets no processor. The first end that is kept from it makes the file
 * "$HOLD_HANGUPS.met".
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

/* The thread that answers applications' questions asks for input, too, and is not meant. */
static int has_hangup(const struct epoll_event *events, int n)
{
	for (int i = 0; i < n; i++) {
		if (events[i].events & (EPOLLHUP | EPOLLRDHUP) && !(events[i].events & EPOLLIN))
			return 1;
	}
	return 0;
}

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	static int (*real)(int, struct epoll_event *, int, int);
	const char *file = getenv("HOLD_HANGUPS");
	char met[4096];
	int n;

	if (!real)
		real = (int (*)(int, struct epoll_event *, int, int)) dlsym(RTLD_NEXT, "epoll_wait");
	n = real(fd, events, max, timeout);
	if (n > 0 && file && !access(file, F_OK) && has_hangup(events, n)) {
		snprintf(met, sizeof(met), "%s.met", file);
		close(open(met, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		while (!access(file, F_OK))
			nanosleep(&(struct timespec) { .tv_nsec = 5000000 }, NULL);
	}
	return n;
}
