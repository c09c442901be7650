/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * System calls for processes of one thread (user_namespaces(7)), made by one whose
 * other threads are all the tracer's.
 *
 * These end before the call, and what fork()'s handlers do in a child brings new ones:
 * the agent connects again, lttng-ust registers once more. So the fork handlers'
 * locks are held: no thread of ours is in the middle of anything. Some wait where pthread_cancel() does not
 * reach them, so each is asked to end by itself (signals/tracer-signal.c), as the kernel would end it. To libc they
 * are threads that lie still: their stacks stay, as they do for lttng-ust in a child.
 *
 * Calls under way get their exits before, and count as over, as around an execve() that fails.
 */
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/ledger/ledger.h"
#include "liblttng-spi/process/internal.h"
#include "liblttng-spi/calls/calls.h"

#define ROUNDS		5000u		/* of 0.2 ms, until they are gone */

static void thread_end(void)
{
	for (;;)
		spi_raw3(SYS_exit, 0, 0, 0);
}

/* All threads but the caller: how many there are, or -errno. */
static int others_list(struct spi_numbers *task, int self, int32_t tids[SPI_TRACER_THREADS])
{
	int n = 0;

	spi_numbers_again(task);
	while (spi_numbers_next(task)) {
		if (task->number == self)
			continue;
		if (n < (int) SPI_TRACER_THREADS)
			tids[n] = task->number;
		n++;
	}
	return task->have < 0 ? (int) task->have : n;
}

/* All locks of the tracer's are held. 0: the calling thread is the only one. */
static int others_end(void)
{
	int self = (int) spi_sys(SYS_gettid), left;
	int32_t tids[SPI_TRACER_THREADS];
	struct spi_numbers task;

	if (spi_numbers_open(&task, "/proc/self/task") < 0)
		return -1;
	left = others_list(&task, self, tids);
	if (left > (int) SPI_TRACER_THREADS || (left > 0 && spi_tracer_ask(tids, (unsigned int) left, thread_end) < 0))
		left = -1;
	for (unsigned int i = 0; left > 0 && i < ROUNDS; i++) {
		spi_sleep_us(200);
		left = others_list(&task, self, tids);
	}
	if (!left)
		spi_tracer_done();
	spi_numbers_close(&task);
	return left;
}

int spi_single_call(int (*call)(void *data), void *data, int *result)
{
	struct spi_thread *t = &spi_thread;
	uint32_t tree = t->tree;
	int done, goes_on;

	/* a first thread that has ended is one more to the kernel, and no signal ends it */
	if (t->busy || spi_sys(SYS_gettid) != spi_sys(SYS_getpid) || (spi_payload && !spi_payload->can_fork()))
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
	goes_on = !done || spi_child_begin_now();
	t->busy &= ~SPI_BUSY_ALWAYS;
	t->tree = tree;			/* what was called meanwhile was the tracer's, and is in none */
	t->tree_epoch = t->words_epoch = 0;
	spi_tree_words_look(t);
	if (goes_on)
		spi_process_goes_on();
	if (!done)
		spi_exec_fault("a thread of the tracer's", "it did not end");
	return done ? 0 : -1;
}
