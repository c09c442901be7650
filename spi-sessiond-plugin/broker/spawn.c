/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Starting the broker without the daemon noticing.
 *
 * The daemon must neither get a SIGCHLD of it nor reap it by a wait for any
 * child. A child with exit signal 0 has neither fault, but execve() sets the exit
 * signal back to SIGCHLD. So the broker is a grandchild: a child that never
 * executes anything, with exit signal 0, makes it and ends; from then on the
 * broker is init's. Its end is seen on a pidfd and by the end of its socket.
 *
 * Both steps share the daemon's memory (CLONE_VM), which copies no page tables
 * however big the daemon is and runs no fork handlers; the plugin thread stands
 * still until the broker has executed (CLONE_VFORK), with all signals blocked.
 * The child shares the descriptor table, too: so the pidfd is made in the
 * daemon's.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/broker/broker.h"

#define STACK_SIZE	(64 * 1024)	/* of each of the two */

struct spawn {
	const char *path, *log;
	char **environment;
	int socket;
	char *stacks;
	pid_t pid;
	int pidfd;
	int error;	/* of the last step; the memory is shared */
};

/*
 * Handlers of the daemon must not run here; what it ignores must not be inherited.
 * By the kernel's own interface (handler, flags, restorer, mask; all zero is the
 * default), since libc's keeps its hands off the two signals that are libc's own.
 */
static void signals_reset(void)
{
	static const unsigned long standard[4];
	sigset_t none;

	for (int signal = 1; signal <= 64; signal++)
		syscall(SYS_rt_sigaction, signal, standard, NULL, 8);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int descriptors_arrange(const struct spawn *s)
{
	int null, log = -1, from;

	/* First out of the way: the socket may be 0 to 2 in a daemon that closed those. */
	from = fcntl(s->socket, F_DUPFD, 16);
	if (from < 0)
		return -errno;
	null = open("/dev/null", O_RDWR);
	if (null < 0)
		return -errno;
	if (s->log)
		log = open(s->log, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	if (log < 0)
		log = null;
	log = fcntl(log, F_DUPFD, 16);
	null = fcntl(null, F_DUPFD, 16);
	if (log < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(log, 2) < 0 ||
	    dup2(from, SPI_BROKER_FD) < 0)
		return -errno;
	/* The table is this process's own copy. */
	if (close_range(SPI_BROKER_FD + 1, ~0u, 0))
		return -errno;
	return 0;
}

static int grandchild(void *data)
{
	struct spawn *s = data;
	char *argv[] = { (char *) s->path, NULL };

	signals_reset();
	s->error = descriptors_arrange(s);
	if (s->error)
		_exit(127);
	execve(s->path, argv, s->environment);
	s->error = -errno;
	_exit(127);
}

/* What is preloaded into the daemon is no business of the broker's, lttng-ust's helpers least of all. */
static char **environment_create(void)
{
	static const char preload[] = "LD_PRELOAD=";
	size_t n = 0, kept = 0;
	char **copy;

	while (environ && environ[n])
		n++;
	copy = malloc((n + 1) * sizeof(*copy));
	for (size_t i = 0; copy && i < n; i++) {
		if (strncmp(environ[i], preload, sizeof(preload) - 1))
			copy[kept++] = environ[i];
	}
	if (copy)
		copy[kept] = NULL;
	return copy;
}

static int child(void *data)
{
	struct spawn *s = data;

	s->pid = clone(grandchild, s->stacks + 2 * STACK_SIZE, CLONE_VM | CLONE_VFORK | CLONE_PIDFD, s, &s->pidfd);
	if (s->pid < 0)
		s->error = -errno;
	_exit(0);
}

pid_t spawn_broker(const char *path, int socket, int *pidfd)
{
	struct spawn s = { .path = path, .log = secure_getenv("LTTNG_SPI_DEBUG"), .socket = socket, .pid = -1,
			   .pidfd = -1 };
	pid_t pid;

	s.environment = environment_create();
	if (!s.environment)
		return -ENOMEM;
	s.stacks = mmap(NULL, 2 * STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (s.stacks == MAP_FAILED) {
		free(s.environment);
		return -ENOMEM;
	}
	pid = clone(child, s.stacks + STACK_SIZE, CLONE_VM | CLONE_VFORK | CLONE_FILES, &s);
	if (pid < 0)
		s.error = -errno;
	else
		while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	munmap(s.stacks, 2 * STACK_SIZE);
	free(s.environment);
	if (s.error) {
		if (s.pidfd >= 0)
			close(s.pidfd);
		return s.error;
	}
	*pidfd = s.pidfd;
	return s.pid;
}
