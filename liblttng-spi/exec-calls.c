/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The functions by which a program executes another, in one that the agent was injected into.
 *
 * Where programs are followed, libc's own entries are watched (exec-watch.c). Elsewhere all that is to be done is to
 * close the open calls before the program is given up, and for that the objects' pointers to these functions are enough
 * (redirect.c): libc's code stays as it is. What libc executes by itself (posix_spawn(), system()) is executed by a
 * child on its parent's memory, which has no calls of its own.
 *
 * In a child of vfork() nothing is changed here. The search along PATH is made as libc makes it, only to know
 * whether it will find anything.
 */
#include <alloca.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "liblttng-spi/exec.h"
#include "liblttng-spi/interpose.h"
#include "liblttng-spi/ledger/ledger.h"

#define PATH_MOST	4096u

static int (*libc_execve)(const char *path, char *const argv[], char *const envp[]);
static int (*libc_execv)(const char *path, char *const argv[]);
static int (*libc_execvp)(const char *file, char *const argv[]);
static int (*libc_execvpe)(const char *file, char *const argv[], char *const envp[]);
static int (*libc_fexecve)(int fd, char *const argv[], char *const envp[]);
static int (*libc_execveat)(int directory, const char *path, char *const argv[], char *const envp[], int flags);

/* 1: open calls were closed. */
static int leave(int directory, const char *path, int flags)
{
	return !spi_exec_watching && spi_exec_leave(directory, path, flags);
}

/* It is the program's own call that came back. */
static int failed(int left, int ret)
{
	if (left)
		spi_process_goes_on();
	return ret;
}

static int leave_found(const char *file)
{
	const char *list = getenv("PATH"), *end;
	size_t n = strlen(file), length;
	char path[PATH_MOST];
	int left = 0;

	if (spi_exec_watching || !n)
		return 0;
	if (strchr(file, '/'))
		return leave(AT_FDCWD, file, 0);
	for (list = list ? list : "/bin:/usr/bin"; list && !left; list = *end ? end + 1 : NULL) {
		end = strchrnul(list, ':');
		length = (size_t) (end - list);
		if (length + n + 2 > sizeof(path))
			continue;
		memcpy(path, list, length);
		if (length)
			path[length++] = '/';
		memcpy(path + length, file, n + 1);
		left = leave(AT_FDCWD, path, 0);
	}
	return left;
}

static int own_execve(const char *path, char *const argv[], char *const envp[])
{
	int left = leave(AT_FDCWD, path, 0);

	return failed(left, libc_execve(path, argv, envp));
}

static int own_execv(const char *path, char *const argv[])
{
	int left = leave(AT_FDCWD, path, 0);

	return failed(left, libc_execv(path, argv));
}

static int own_execvpe(const char *file, char *const argv[], char *const envp[])
{
	int left = leave_found(file);

	return failed(left, libc_execvpe(file, argv, envp));
}

static int own_execvp(const char *file, char *const argv[])
{
	int left = leave_found(file);

	return failed(left, libc_execvp(file, argv));
}

static int own_fexecve(int fd, char *const argv[], char *const envp[])
{
	int left = leave(fd, "", AT_EMPTY_PATH);

	return failed(left, libc_fexecve(fd, argv, envp));
}

static int own_execveat(int directory, const char *path, char *const argv[], char *const envp[], int flags)
{
	int left = leave(directory, path, flags);

	return failed(left, libc_execveat(directory, path, argv, envp, flags));
}

static void fill(char **argv, char *first, size_t n, va_list *args)
{
	argv[0] = first;
	for (size_t i = 1; i <= n; i++)
		argv[i] = va_arg(*args, char *);
}

/* own_execl() and its like are hooks.S's: where libc's own entries are watched they go on to libc's as they came. */
#define VARIADIC(name) \
	int exec_##name(const char *path, const char *first, ...) SPI_HIDDEN __attribute__((used)); \
	void *exec_libc_##name SPI_HIDDEN __attribute__((used)); \
	int exec_##name(const char *path, const char *first, ...)

/* Arguments from `first` up to NULL, as an array on the caller's stack; `args` is then behind NULL. */
#define GATHER(first, args) ({ \
	size_t n_ = 0; \
	char **argv_; \
	va_start(args, first); \
	for (const char *next_ = (first); next_; next_ = va_arg(args, char *)) \
		n_++; \
	va_end(args); \
	argv_ = alloca((n_ + 1) * sizeof(*argv_)); \
	va_start(args, first); \
	fill(argv_, (char *) (first), n_, &args); \
	argv_; \
})

VARIADIC(execl)
{
	va_list args;
	char **argv = GATHER(first, args);

	va_end(args);
	return own_execv(path, argv);
}

VARIADIC(execlp)
{
	va_list args;
	char **argv = GATHER(first, args);

	va_end(args);
	return own_execvp(path, argv);
}

VARIADIC(execle)
{
	va_list args;
	char **argv = GATHER(first, args), **envp = va_arg(args, char **);

	va_end(args);
	return own_execve(path, argv, envp);
}

/* 1: libc has all of them. */
static int libc_find(void)
{
	const struct {
		const char *name;
		void **to;
	} list[] = {
		{ "execve", (void **) &libc_execve }, { "execv", (void **) &libc_execv }, { "execvp", (void **) &libc_execvp },
		{ "execvpe", (void **) &libc_execvpe }, { "fexecve", (void **) &libc_fexecve },
		{ "execveat", (void **) &libc_execveat }, { "execl", &exec_libc_execl }, { "execlp", &exec_libc_execlp },
		{ "execle", &exec_libc_execle },
	};

	for (unsigned int i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (!(*list[i].to = spi_find_in_libc(list[i].name)))
			return 0;
	return 1;
}

void spi_exec_redirect(void)
{
	static const struct spi_redirect list[] = {
		{ "execve", (void *) own_execve }, { "execv", (void *) own_execv }, { "execvpe", (void *) own_execvpe },
		{ "execvp", (void *) own_execvp }, { "fexecve", (void *) own_fexecve }, { "execveat", (void *) own_execveat },
		{ "execl", (void *) own_execl }, { "execlp", (void *) own_execlp }, { "execle", (void *) own_execle },
		{ NULL, NULL },
	};
	static int has_all = -1;

	if (has_all < 0)
		has_all = libc_find();
	if (has_all)
		spi_redirect(list);
}
