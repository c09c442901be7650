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
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include "liblttng-spi/core.h"
#include "liblttng-spi/patch/internal.h"
#include "liblttng-spi/base/proc.h"

#define LOOK_MS		10u	/* at first */
#define LOOK_MOST_MS	100u
#define ONE_LOOK_NS	2000000
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

struct entry {		/* getdents64(2) */
	uint64_t inode, offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

/* In `TID (NAME) S ...`, at the closing parenthesis. */
static int name_is_ours(const char *text, const char *end)
{
	const char *name = text;

	while (name < end && *name != '(')
		name++;
	return (end - name > 9 && spi_bytes_equal((const uint8_t *) name + 1, (const uint8_t *) "lttng-spi", 9)) ||
		(end - name > 4 && spi_bytes_equal((const uint8_t *) end - 4, (const uint8_t *) "-ust", 4));
}

/* The state letter in `TID (NAME) S ...`; 0: it has ended. */
static char thread_state(int dir, const char *tid, int *is_named)
{
	char path[24], text[128];
	long fd, got, at;
	size_t n = 0;

	for (; tid[n] && n < sizeof(path) - 6; n++)
		path[n] = tid[n];
	__builtin_memcpy(path + n, "/stat", 6);
	fd = spi_sys(SYS_openat, (long) dir, path, (long) (O_RDONLY | O_CLOEXEC), 0L);
	if (fd < 0)
		return 0;
	got = spi_proc_read(fd, text, sizeof(text));
	spi_proc_close(fd);
	for (at = got - 1; at > 1; at--)
		if (text[at - 2] == ')' && text[at - 1] == ' ' && text[at] >= 'A' && text[at] <= 'z') {
			*is_named = name_is_ours(text, text + at - 2);
			return text[at];
		}
	return got > 0 ? 'R' : 0;
}

/* A thread of the program's that has not ended? */
static enum left thread_left(int dir, const char *name, int self)
{
	int tid = 0, is_named = 0, is_ours;
	char state;

	for (const char *c = name; *c; c++) {
		if (*c < '0' || *c > '9')
			return LEFT_NONE;
		tid = tid * 10 + (*c - '0');
	}
	if (tid == self)
		return LEFT_NONE;
	state = thread_state(dir, name, &is_named);
	if (!state || state == 'Z' || state == 'X')
		return LEFT_NONE;
	is_ours = spi_thread_is_tracer_task(dir, name, tid);
	if (is_ours < 0)
		return is_named ? LEFT_UNTOLD_NAMED : LEFT_UNTOLD;
	return is_ours ? LEFT_NONE : LEFT_PROGRAMS;
}

static enum left program_left(int self)
{
	_Alignas(8) char buffer[4096];
	long dir = spi_sys(SYS_openat, (long) AT_FDCWD, "/proc/self/task", (long) (O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0L);
	enum left found = LEFT_NONE;
	long got = 0;

	if (dir < 0)
		return LEFT_UNTOLD;
	while (found < LEFT_PROGRAMS && (got = spi_sys(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got && found < LEFT_PROGRAMS; ) {
			const struct entry *e = (const struct entry *) (buffer + at);
			enum left one = thread_left((int) dir, e->name, self);

			at += e->size;
			found = one > found ? one : found;
		}
	spi_proc_close(dir);
	return got < 0 && found < LEFT_UNTOLD ? LEFT_UNTOLD : found;
}

/* What a thread that ended by itself, without libc, has left, as for waitpid(2); proc(5): the last field of `stat`. */
static unsigned int first_status(void)
{
	char text[1024];
	long fd = spi_sys(SYS_openat, (long) AT_FDCWD, "/proc/self/stat", (long) (O_RDONLY | O_CLOEXEC), 0L), got;
	unsigned int code = 0, ten = 1;

	if (fd < 0)
		return 0;
	got = spi_proc_read(fd, text, sizeof(text));
	spi_proc_close(fd);
	while (got > 0 && (text[got - 1] < '0' || text[got - 1] > '9'))
		got--;
	for (; got > 0 && text[got - 1] >= '0' && text[got - 1] <= '9'; got--, ten *= 10)
		code += (unsigned int) (text[got - 1] - '0') * ten;
	return code;
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
		struct timespec pause = { (time_t) (ms / 1000), (long) (ms % 1000 * 1000000) };

		spi_sys(SYS_nanosleep, &pause, NULL);
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
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, old;
	uint32_t busy;

	if (__atomic_exchange_n(&watched, self, __ATOMIC_ACQ_REL) == self)
		return;
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGTRAP);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	busy = SPI_BUSY_ALWAYS & ~spi_thread.busy;
	spi_thread.busy |= busy;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, watch_thread, NULL))
		watched = 0;
	pthread_attr_destroy(&attr);
	spi_thread.busy &= ~busy;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* A controller has seen that it is a zombie: it ended by a system call of its own. The control thread. */
void spi_last_thread_first_ended(void)
{
	long dir = spi_sys(SYS_openat, (long) AT_FDCWD, "/proc/self/task", (long) (O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0L);
	char text[12] = "", state;
	unsigned int at = sizeof(text) - 1;
	int is_named;

	if (dir < 0)
		return;
	for (long pid = spi_sys(SYS_getpid); pid; pid /= 10)
		text[--at] = (char) ('0' + pid % 10);
	state = thread_state((int) dir, text + at, &is_named);
	spi_proc_close(dir);
	if (state == 'Z')
		spi_last_thread_watch();
}

/* A thread of ours that runs just now, or waits for a processor, cannot be told from one of the program's. */
int spi_last_thread_is_one(void)
{
	struct timespec pause = { 0, ONE_LOOK_NS };
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
		spi_sys(SYS_nanosleep, &pause, NULL);
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
