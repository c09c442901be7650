/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * System calls for processes of one thread (user_namespaces(7)), made by one whose
 * other threads are all the tracer's.
 *
 * These end before the call, and what fork()'s handlers do in a child brings new ones:
 * the agent connects again, lttng-ust registers once more. So the fork handlers'
 * locks are held: no thread of ours is in the middle of anything. lttng-ust's block all
 * signals but libc's own two, and some wait where pthread_cancel() does not reach them; so a
 * handler of ours for one of these, for as long, ends them as the kernel would. To libc they
 * are threads that lie still: their stacks stay, as they do for lttng-ust in a child.
 *
 * Calls under way get their exits before, and are entered again after, as around an
 * execve() that fails.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include "liblttng-spi/clones.h"
#include "liblttng-spi/core.h"
#include "liblttng-spi/exec.h"
#include "liblttng-spi/patch-internal.h"
#include "liblttng-spi/tree.h"

#define SETXID		33		/* libc's, by which setuid() asks all threads: never blocked (nptl(7)) */
#define ROUNDS		5000u		/* of 0.2 ms, until they are gone */

static void thread_ends(int number)
{
	(void) number;
	for (;;)
		spi_raw3(SYS_exit, 0, 0, 0);
}

/* A signal to all but the caller: how many there are, or -errno. */
static int others_signal(int dir, int pid, int self)
{
	_Alignas(8) char buffer[2048];
	long got;
	int n = 0;

	if (spi_sys(SYS_lseek, (long) dir, 0L, 0L) < 0)
		return -EIO;
	while ((got = spi_sys(SYS_getdents64, (long) dir, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got; ) {
			const char *name = buffer + at + 19;	/* linux_dirent64.d_name */
			int tid = 0;

			at += *(const uint16_t *) (buffer + at + 16);
			for (const char *c = name; *c >= '0' && *c <= '9'; c++)
				tid = tid * 10 + (*c - '0');
			if (!tid || tid == self)
				continue;
			n++;
			spi_sys(SYS_tgkill, (long) pid, (long) tid, (long) SETXID);
		}
	return got < 0 ? (int) got : n;
}

/* All locks of the tracer's are held. 0: the calling thread is the only one. */
static int others_end(void)
{
	struct spi_sigaction end = { .handler = (uint64_t) thread_ends, .flags = SPI_SA_RESTORER,
		.restorer = (uint64_t) spi_signal_return, .mask = ~UINT64_C(0) }, was;
	int self = (int) spi_sys(SYS_gettid), left = -1;
	struct timespec pause = { 0, 200000 };
	long dir = spi_sys(SYS_openat, (long) AT_FDCWD, "/proc/self/task", (long) (O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0L);

	if (dir < 0)
		return -1;
	if (spi_raw4(SYS_rt_sigaction, SETXID, (uint64_t) &end, (uint64_t) &was, 8) == 0) {
		for (unsigned int i = 0; i < ROUNDS && (left = others_signal((int) dir, self, self)) > 0; i++)
			spi_sys(SYS_nanosleep, &pause, NULL);
		spi_raw4(SYS_rt_sigaction, SETXID, (uint64_t) &was, 0, 8);
	}
	spi_sys(SYS_close, dir);
	return left;
}

int spi_single_call(int (*call)(void *data), void *data, int *result)
{
	struct spi_thread *t = &spi_thread;
	uint32_t tree = t->tree;
	int done;

	/* a first thread that has ended is one more to the kernel, and no signal ends it */
	if (t->busy || spi_sys(SYS_gettid) != spi_sys(SYS_getpid) || !spi_payload || !spi_payload->can_fork())
		return -1;
	if (spi_link_current && !spi_env.socket && !spi_exec_socket())
		return -1;		/* it could not connect again */
	spi_process_execs();
	t->busy |= SPI_BUSY_ALWAYS;
	spi_exec_tell();
	spi_fork_before();
	done = others_end() == 0;
	if (done)
		*result = call(data);
	spi_fork_after(done);
	t->busy &= ~SPI_BUSY_ALWAYS;
	t->tree = tree;			/* what was called meanwhile was the tracer's, and is in none */
	t->tree_epoch = t->words_epoch = 0;
	spi_tree_words_look(t);
	spi_process_goes_on();
	if (!done)
		spi_exec_fault("a thread of the tracer's", "it did not end");
	return done ? 0 : -1;
}
