/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The end of a process whose first thread ends before the others.
 *
 * libc ends a process when its last thread ends (POSIX: pthread_exit(), as if by
 * exit(0)). The tracer's own threads would be last for ever: a main() that calls
 * pthread_exit(), or a child that was forked by a thread which then returns, would
 * hang. So when a process's first thread ends (through libc; else a controller notices
 * that it is a zombie, and says so), a thread of ours begins to look
 * which are left, and calls exit(0) when all that are belong to the tracer. What
 * atexit() handlers call is not recorded then.
 *
 * Which threads are the tracer's is told by their start routine (tracer-threads.c);
 * as long as that cannot be told of one it counts as the program's.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/process/internal.h"

#define LOOK_MS		10u	/* at first */
#define LOOK_MOST_MS	100u
#define ONE_LOOK_US	2000
#define ONE_LOOKS	50u
#define ONE_LOOKS_SURE	5u	/* that some is the program's: one of ours that is just ending looks like that */
#define ONE_LOOKS_NAMED	2500u	/* 5 s: a machine may be so loaded that a thread of ours waits for the processor */

/* Threads that are left: the one who says most. Untold: those that run just now, with a name as the tracer's have, or another. */
enum left { LEFT_NONE, LEFT_UNTOLD_NAMED, LEFT_UNTOLD, LEFT_PROGRAMS };

static pthread_key_t key;
static int have_key;
static SPI_FORK_DATA int watched;		/* process id of the one that is looked at */
static SPI_FORK_DATA int ended_by_libc;	/* its first thread: then libc would exit(0) */
int spi_last_thread_ended;

/* In `TID (NAME) S ...`, at the closing parenthesis. */
static int name_is_ours(const char *text, const char *end)
{
	const char *name = strchr(text, '(');

	return name && (!strncmp(name + 1, "lttng-spi", 9) || (end - name > 4 && !strncmp(end - 4, "-ust", 4)));
}

/* A thread of the program's that has not ended? */
static enum left thread_left(const struct spi_numbers *task)
{
	char text[128];
	const char *end;
	int is_ours;

	if (spi_task_text(task, "stat", text, sizeof(text)) <= 0)
		return LEFT_NONE;
	end = strrchr(text, ')');
	if (end && end[1] && (end[2] == 'Z' || end[2] == 'X'))
		return LEFT_NONE;
	is_ours = spi_thread_is_tracer_task(task);
	if (is_ours < 0)
		return end && name_is_ours(text, end) ? LEFT_UNTOLD_NAMED : LEFT_UNTOLD;
	return is_ours ? LEFT_NONE : LEFT_PROGRAMS;
}

static enum left program_left(int self)
{
	enum left found = LEFT_NONE;
	struct spi_numbers task;

	if (spi_numbers_open(&task, "/proc/self/task") < 0)
		return LEFT_UNTOLD;
	while (found < LEFT_PROGRAMS && spi_numbers_next(&task)) {
		enum left one = task.number == self ? LEFT_NONE : thread_left(&task);

		found = one > found ? one : found;
	}
	spi_numbers_close(&task);
	return task.have < 0 && found < LEFT_UNTOLD ? LEFT_UNTOLD : found;
}

/* What a thread that ended by itself, without libc, has left, as for waitpid(2); proc(5): the last field of `stat`. */
static unsigned int first_status(void)
{
	char text[1024];
	const char *last = spi_proc_text("/proc/self/stat", text, sizeof(text)) == 0 ? strrchr(text, ' ') : NULL;

	return last ? (unsigned int) spi_parse_number(last + 1, NULL) : 0;
}

static void end_as_first(void)
{
	unsigned int status = first_status();

	if (status & 0x7f)
		spi_sys(SYS_kill, spi_sys(SYS_getpid), (long) (status & 0x7f));
	spi_sys(SYS_exit_group, (long) (status & 0x7f ? 128 + (status & 0x7f) : status >> 8 & 0xff));
}

static void *watch_thread(void *unused)
{
	uint64_t ms = LOOK_MS;
	int self = (int) spi_sys(SYS_gettid);

	spi_thread.busy = SPI_BUSY_ALWAYS;
	spi_sys(SYS_prctl, (long) PR_SET_NAME, "lttng-spi", 0L, 0L, 0L);
	do {
		spi_sleep_us(ms * 1000);
		ms = ms * 2 < LOOK_MOST_MS ? ms * 2 : LOOK_MOST_MS;
	} while (program_left(self) != LEFT_NONE);
	if (!__atomic_load_n(&ended_by_libc, __ATOMIC_ACQUIRE))
		end_as_first();
	spi_last_thread_ended = 1;
	exit(0);
	return unused;
}

void spi_last_thread_watch(void)
{
	int self = (int) spi_sys(SYS_getpid);

	if (__atomic_exchange_n(&watched, self, __ATOMIC_ACQ_REL) != self && spi_tracer_thread(watch_thread, NULL))
		watched = 0;
}

/* A controller has seen that it is a zombie: it ended by a system call of its own. The control thread. */
void spi_last_thread_first_ended(void)
{
	char text[1024];
	const char *end = spi_proc_text("/proc/self/stat", text, sizeof(text)) == 0 ? strrchr(text, ')') : NULL;

	if (end && !strncmp(end, ") Z", 3))
		spi_last_thread_watch();
}

/* A thread of ours that runs just now, or waits for a processor, cannot be told from one of the program's. */
int spi_last_thread_is_one(void)
{
	int self = (int) spi_sys(SYS_gettid);
	unsigned int sure = 0;
	enum left left;

	for (unsigned int i = 0; i < ONE_LOOKS_NAMED; i++) {
		left = program_left(self);
		if (left == LEFT_NONE)
			return 1;
		sure += left == LEFT_PROGRAMS;
		if (sure >= ONE_LOOKS_SURE || (left == LEFT_UNTOLD && i >= ONE_LOOKS))
			return 0;
		spi_sleep_us(ONE_LOOK_US);
	}
	return 0;
}

/* The first thread's last own code. */
static void first_ends(void *unused)
{
	(void) unused;
	if (spi_may(SPI_MAY_ACT) && spi_sys(SYS_getpid) != spi_sys(SYS_gettid))
		return;
	__atomic_store_n(&ended_by_libc, 1, __ATOMIC_RELEASE);
	if (spi_may(SPI_MAY_ACT))	/* else it is looked at already */
		spi_last_thread_watch();
}

void spi_last_thread_init(void)
{
	if (!have_key && pthread_key_create(&key, first_ends) == 0)
		have_key = key < 32;	/* PTHREAD_KEY_2NDLEVEL_SIZE: above, setting one allocates */
}

/* In any thread and state; of use in a process's first one. */
void spi_last_thread_look(void)
{
	if (have_key && spi_sys(SYS_gettid) == spi_sys(SYS_getpid))
		pthread_setspecific(key, &key);
}

void spi_last_thread_fork_child(void)
{
	watched = 0;
	ended_by_libc = 0;
	spi_last_thread_look();
}
