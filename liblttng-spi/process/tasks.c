/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a program sees of its threads in /proc/self/task: those of an untraced run. A program looks there whether it is alone before it
 * enters a sandbox, by the directory's link count (chromium's zygote) or its entries, and ends itself if it is not.
 * (What the kernel demands of a process with one thread is namespaces.c's.)
 */
#include <dirent.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/process/internal.h"

#define MOST_LINKS	18u	/* 16 threads: with more of them a look is not whether there is one */
#define TASKS		"/proc/self/task"
#define LOOKS		100u
#define LOOK_US		1000

/* A directory that /proc may show threads in; that it is this process's is asked of the kernel. */
static int is_own_tasks(const struct stat *st)
{
	struct stat own;

	return S_ISDIR(st->st_mode) && !st->st_size && (st->st_mode & 07777) == 0555 && spi_may(SPI_MAY_TALK) &&
		spi_sys(SYS_stat, TASKS, &own) == 0 && own.st_dev == st->st_dev && own.st_ino == st->st_ino;
}

/* How many of the directory's are the tracer's; -1: one of them cannot be told at this moment. */
static int tracers_count(struct spi_numbers *task)
{
	int self = (int) spi_sys(SYS_gettid), n = 0;

	spi_numbers_again(task);
	while (spi_numbers_next(task)) {
		int is_tracers = task->number == self ? 0 : spi_thread_is_tracer_task(task);

		if (is_tracers < 0)
			return -1;
		n += is_tracers;
	}
	return n;
}

static void tasks_hide(struct stat *st)
{
	struct spi_numbers task;
	int n = -1;

	if (st->st_nlink < 4 || st->st_nlink > MOST_LINKS || !is_own_tasks(st) || spi_numbers_open(&task, TASKS) < 0)
		return;
	for (unsigned int i = 0; i < LOOKS && (n = tracers_count(&task)) < 0; i++)
		spi_sleep_us(LOOK_US);
	spi_numbers_close(&task);
	if (n > 0)
		st->st_nlink -= (nlink_t) n;
}

int spi_task_is_hidden(int directory, const char *name)
{
	struct spi_numbers task = { .dir = directory, .name = name };
	struct stat listed;

	task.number = (int) spi_parse_number(name, NULL);
	return spi_sys(SYS_fstat, (long) directory, &listed) == 0 && is_own_tasks(&listed) &&
		spi_thread_is_tracer_task(&task) > 0;
}

/* ---- libc's functions ---- */

int __fxstatat(int version, int directory, const char *path, struct stat *st, int flags);

/*
 * The last one is that of programs that were linked before glibc 2.33, as chromium is. On x86-64 the functions for
 * large files are the same.
 */
SPI_HOOK_DECLARE(stat)
SPI_HOOK_DECLARE(fstatat)
SPI_HOOK_DECLARE(__fxstatat)

#define LOOKS_AT(name, parameters, ...) \
	SPI_EXPORT int name parameters \
	{ \
		int ret = SPI_NEXT(name)(__VA_ARGS__); \
	\
		if (ret == 0) \
			tasks_hide(st); \
		return ret; \
	}
LOOKS_AT(stat, (const char *path, struct stat *st), path, st)
LOOKS_AT(fstatat, (int directory, const char *path, struct stat *st, int flags), directory, path, st, flags)
LOOKS_AT(__fxstatat, (int version, int directory, const char *path, struct stat *st, int flags), version, directory, path, st, flags)

SPI_EXPORT __typeof__(__fxstatat) __fxstatat64 __attribute__((alias("__fxstatat"), copy(__fxstatat)));
SPI_EXPORT int stat64(const char *path, struct stat64 *st) __attribute__((alias("stat")));
SPI_EXPORT int fstatat64(int directory, const char *path, struct stat64 *st, int flags) __attribute__((alias("fstatat")));

#define WAYS	.ways = SPI_HOOK_ORDER | SPI_HOOK_POINTERS
const struct spi_hook spi_task_hooks[] = {
	{ SPI_HOOK_ROW(stat), WAYS },
	{ "stat64", (void *) own_stat, WAYS },
	{ SPI_HOOK_ROW(fstatat), WAYS },
	{ "fstatat64", (void *) own_fstatat, WAYS },
	{ SPI_HOOK_ROW(__fxstatat), WAYS },
	{ "__fxstatat64", (void *) own___fxstatat, WAYS },
	{ NULL },
};
