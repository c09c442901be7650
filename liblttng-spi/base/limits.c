/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Resource limits that leave the tracer no room (setrlimit(2)).
 *
 * In a child of fork(), and in a program that is executed, lttng-ust begins threads and is sent descriptors. Where it gets
 * none the program pays: libc aborts a process that has no memory for a thread's thread-local data, and the child waits as
 * long as it may for a registration that cannot come. So what would be followed there is not. What has been instrumented in
 * the process that sets the limit stays: it needs no more.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"

#define MB		(UINT64_C(1) << 20)
#define PROGRAM_AS	(768 * MB)	/* the agent, lttng-ust's buffers, and a little program */
#define PROGRAM_DATA	(96 * MB)	/* stacks of the tracer's threads, mostly */
#define CHILD_ROOM	(128 * MB)	/* what comes in a child: threads with their stacks and allocators, and buffers */
#define FILES		32u		/* sockets and what belongs to the process; and */
#define FILES_CPU	4u		/* for each processor: two channels' buffers, and a pipe each */
#define PROCESSES	16u
#define PROCESSES_MANY	4096u		/* a limit that is no narrow one */

static uint64_t limit_of(int resource)
{
	struct rlimit limit;

	return spi_sys(SYS_prlimit64, 0L, (long) resource, NULL, &limit) < 0 ? RLIM_INFINITY : limit.rlim_cur;
}

static const char *memory_because(int is_program)
{
	uint64_t as = limit_of(RLIMIT_AS), data = limit_of(RLIMIT_DATA), room;

	if (as == RLIM_INFINITY && data == RLIM_INFINITY)
		return NULL;
	if (is_program)
		return as < PROGRAM_AS ? "the limit on its address space is too low" :
			data < PROGRAM_DATA ? "the limit on its data (RLIMIT_DATA) is too low" : NULL;
	room = spi_mmap(0, CHILD_ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (!room)
		return "the limit on its address space or data (RLIMIT_AS, RLIMIT_DATA) leaves the tracer no room";
	spi_munmap(room, CHILD_ROOM);
	return NULL;
}

static uint32_t processors(void)
{
	uint64_t set[128] = { 0 };
	long bytes = spi_sys(SYS_sched_getaffinity, 0L, sizeof(set), set);
	uint32_t n = 0;

	for (long i = 0; i < bytes / 8; i++)
		n += (uint32_t) __builtin_popcountl(set[i]);
	return n ? n : 1;
}

/* Are so many numbers free? They are, nearly always, right below the limit. */
static int files_are_free(uint64_t limit, uint32_t wanted)
{
	uint32_t found = 0;

	for (uint64_t fd = limit, looks = 4 * wanted; fd-- && looks-- && found < wanted;)
		found += spi_sys(SYS_fcntl, (long) fd, (long) F_GETFD) < 0;
	return found == wanted;
}

/* How many tasks there are in the whole system is at least how many its user has. */
int spi_processes_are_few(void)
{
	uint64_t limit = limit_of(RLIMIT_NPROC);
	char text[64];
	const char *at = text;

	if (limit >= PROCESSES_MANY || !spi_sys(SYS_getuid))
		return 1;
	if (spi_proc_text("/proc/loadavg", text, sizeof(text)) < 0)
		return 0;
	while (*at && *at != '/')	/* "0.20 0.18 0.12 1/80 11206" */
		at++;
	return *at && spi_parse_number(at + 1, NULL) + PROCESSES < limit;
}

const char *spi_files_because(void)
{
	uint64_t files = limit_of(RLIMIT_NOFILE);

	return files >= INT32_MAX || files_are_free(files, FILES + FILES_CPU * processors()) ? NULL :
		"the limit on its open files leaves the tracer none";
}

const char *spi_limits_because(int is_program)
{
	const char *reason = memory_because(is_program);

	if (reason)
		return reason;
	if (is_program && !spi_file_fits(SPI_STATUS_BYTES))
		return "the limit on the size of its files is too low";
	reason = spi_files_because();
	if (reason)
		return reason;
	return spi_processes_are_few() ? NULL : "the limit on its user's processes may leave the tracer no threads";
}
