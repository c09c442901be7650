/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The program's descriptor numbers. What a thread of the tracer's opens gets the
 * lowest number that is free, if only for a moment, in the middle of a program that
 * counts on its numbers: one that opens expects 3, and many close a number once too
 * often, which does nothing as long as nobody has it. If a tracer's file had it just
 * then, that is closed, the program is given the number, and the tracer closes the
 * program's file in turn.
 *
 * So while our threads and lttng-ust open files, the free numbers below LOW_FDS are
 * held by something that nobody can read or write, and what is opened gets others.
 * The program may close or replace what is held: when it is given back each number
 * is looked at again. Numbers 0 to 2 are held only where they have been free for a
 * while, as a program that redirects its output closes one and opens it at once.
 *
 * To hold and give back takes a hundred system calls each. Nothing is held while a holder waits for its controller for
 * longer than a moment.
 *
 * Under the control lock, or before there are other threads; the child of a fork
 * gives back what its parent held.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/internal.h"

#define LOW_FDS		100
#define STANDARD_FDS	3
#define LEAST_LIMIT	256u
#define FIRST_TRIES	3

static SPI_FORK_DATA uint32_t depth, waits;		/* waits: holders that wait for their controller */
static SPI_FORK_DATA int is_taken;
static long low_fds;
static uint8_t held[LOW_FDS];
static struct stat held_file;
static int file_is_ours_alone;	/* nobody else can have opened what we hold: its inode tells */

static int is_free(int fd)
{
	return spi_sys(SYS_fcntl, (long) fd, (long) F_GETFD) < 0;
}

/* Is it still what we put there? */
static int is_held(int fd)
{
	struct stat now;
	long flags;

	if (spi_sys(SYS_fstat, (long) fd, &now) < 0 || now.st_dev != held_file.st_dev || now.st_ino != held_file.st_ino)
		return 0;
	if (file_is_ours_alone)
		return 1;
	flags = spi_sys(SYS_fcntl, (long) fd, (long) F_GETFL);
	return flags >= 0 && (flags & O_PATH);
}

/* A file of this thread's in /proc, which programs have no use for; without /proc the root, which they may have open. */
static long held_file_open(void)
{
	long fd = spi_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/fdinfo", O_PATH | O_CLOEXEC);

	file_is_ours_alone = fd >= 0;
	return fd >= 0 ? fd : spi_sys(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC);
}

/*
 * What file it is. A program that closed its first number, a low one, once too often and opened something has that
 * number by now, and what was copied from it is the program's file.
 */
static int held_file_learn(long fd)
{
	long flags = spi_sys(SYS_fcntl, fd, (long) F_GETFL);

	if (flags >= 0 && (flags & O_PATH) && spi_sys(SYS_fstat, fd, &held_file) == 0)
		return 1;
	held_file.st_ino = 0;
	return 0;
}

static void standard_hold(long file)
{
	uint32_t free_ones = 0;

	for (int fd = 0; fd < STANDARD_FDS; fd++)
		free_ones |= (uint32_t) is_free(fd) << fd;
	if (!free_ones)
		return;
	spi_sleep_us(1000);
	for (int fd = 0; fd < STANDARD_FDS; fd++) {
		long got;

		if (!(free_ones & 1u << fd) || !is_free(fd))
			continue;
		got = spi_sys(SYS_fcntl, file, F_DUPFD_CLOEXEC, (long) fd);
		if (got == fd)
			held[fd] = 1;
		else if (got >= 0)
			spi_sys(SYS_close, got);
	}
}

/*
 * A larger table of descriptors makes every thread that opens wait for milliseconds
 * (an RCU grace period) once there are several.
 */
static long low_fds_choose(void)
{
	long size;

	if (spi_sys(SYS_gettid) == spi_sys(SYS_getpid))
		return LOW_FDS;
	size = spi_fd_table_size();
	return !size || size >= 2 * LOW_FDS ? LOW_FDS : size / 2;
}

/* What is to be held, at a number above those; -errno. The low number that it had first is held, too. */
static long held_file_place(void)
{
	long first = -EAGAIN, file = -EAGAIN;

	for (int tries = 0; tries < FIRST_TRIES; tries++) {
		first = held_file_open();
		if (first < 0)
			return first;
		file = spi_sys(SYS_fcntl, first, F_DUPFD_CLOEXEC, low_fds);
		if (held_file_learn(file < 0 ? first : file))
			break;
		if (file >= 0)
			spi_sys(SYS_close, file);
		first = file = -EAGAIN;
	}
	if (file >= 0 && first >= STANDARD_FDS && first < low_fds)
		held[first] = 1;
	else if (first >= 0 && is_held((int) first))
		spi_sys(SYS_close, first);
	return file;
}

static void take(void)
{
	struct rlimit limit;
	long file, fd;

	is_taken = 1;
	low_fds = low_fds_choose();
	if (spi_sys(SYS_prlimit64, 0L, RLIMIT_NOFILE, NULL, &limit) < 0 || limit.rlim_cur < LEAST_LIMIT)
		return;
	file = held_file_place();
	if (file < 0)
		return;
	if (is_held((int) file)) {
		while ((fd = spi_sys(SYS_fcntl, file, F_DUPFD_CLOEXEC, (long) STANDARD_FDS)) >= 0 && fd < low_fds)
			held[fd] = 1;
		if (fd >= 0)
			spi_sys(SYS_close, fd);
		standard_hold(file);
	}
	spi_sys(SYS_close, file);
}

static void give_back(void)
{
	const int alone = spi_tracer_is_alone();	/* nobody else closes anything */

	for (int fd = 0; fd < LOW_FDS; fd++)
		if (held[fd] && (alone || is_held(fd)))
			spi_sys(SYS_close, (long) fd);
	memset(held, 0, sizeof(held));
	is_taken = 0;
}

void spi_low_fds_hold(void)
{
	depth++;
	if (!is_taken)
		take();
}

static void let_go(void)
{
	if (is_taken && depth <= waits)
		give_back();
}

void spi_low_fds_release(void)
{
	depth--;
	let_go();
}

/* Each of the holders that there are waits: all are this thread's, or would have the control lock. */
void spi_low_fds_wait(void)
{
	waits = depth;
	let_go();
}

void spi_low_fds_wait_end(void)
{
	waits = 0;
	if (depth && !is_taken)
		take();
}

int spi_low_fds_are_held(void)
{
	return is_taken;
}

void spi_low_fds_fork_child(void)
{
	if (is_taken)
		give_back();
	depth = waits = 0;
}
