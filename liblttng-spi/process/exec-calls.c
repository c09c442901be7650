/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The functions by which a program executes another and which end in libc's execve(), in an injected program.
 *
 * Where programs are followed, libc's own entries are watched (exec-watch.c). Elsewhere all that is to be done is to
 * close the open calls before the program is given up, and for that the objects' pointers to these functions are
 * enough: libc's code stays as it is. What libc executes by itself (posix_spawn(), system()) is executed by a
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
#include "liblttng-spi/process/exec.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/ledger/ledger.h"

#define PATH_MOST	4096u

static __typeof__(&execv) next_execv;
static __typeof__(&execvp) next_execvp;
static __typeof__(&execvpe) next_execvpe;

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

static int own_execv(const char *path, char *const argv[])
{
	int left = leave(AT_FDCWD, path, 0);

	return failed(left, SPI_NEXT(execv)(path, argv));
}

static int own_execvpe(const char *file, char *const argv[], char *const envp[])
{
	int left = leave_found(file);

	return failed(left, SPI_NEXT(execvpe)(file, argv, envp));
}

static int own_execvp(const char *file, char *const argv[])
{
	int left = leave_found(file);

	return failed(left, SPI_NEXT(execvp)(file, argv));
}

static void fill(char **argv, char *first, size_t n, va_list *args)
{
	argv[0] = first;
	for (size_t i = 1; i <= n; i++)
		argv[i] = va_arg(*args, char *);
}

/* own_execl() and its like are in arch/x86-64/process/hooks.S: where libc's entries are watched they go on to libc's. */
#define VARIADIC(name) \
	int exec_##name(const char *path, const char *first, ...) SPI_HIDDEN __attribute__((used)); \
	int own_##name(const char *path, const char *first, ...) SPI_HIDDEN; \
	void *exec_next_##name SPI_HIDDEN __attribute__((used)); \
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
	return spi_exec_execve(path, argv, envp);
}

const struct spi_hook spi_exec_call_hooks[] = {
	{ SPI_HOOK_ROW(execv), .ways = SPI_HOOK_POINTERS },
	{ SPI_HOOK_ROW(execvp), .ways = SPI_HOOK_POINTERS },
	{ SPI_HOOK_ROW(execvpe), .ways = SPI_HOOK_POINTERS },
	{ "execl", (void *) own_execl, &exec_next_execl, .ways = SPI_HOOK_POINTERS },
	{ "execlp", (void *) own_execlp, &exec_next_execlp, .ways = SPI_HOOK_POINTERS },
	{ "execle", (void *) own_execle, &exec_next_execle, .ways = SPI_HOOK_POINTERS },
	{ NULL },
};
