/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Find the real lttng and become it. The front end is installed under the same
 * name, usually earlier in PATH, perhaps also through a symbolic link: so a
 * candidate is another file, by device and inode, not another path. A wrapper
 * that leads back here would make the two call each other for ever; an
 * environment variable that names this process (exec keeps the pid) stops that.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/real.h"
#include "cli/base/say.h"

#define REAL_ENV	"LTTNG_SPI_REAL_LTTNG"
#define REAL_GUARD_ENV	"LTTNG_SPI_PASSED_BY"

static int real_is_other_program(const char *path, const struct stat *self)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0 &&
	       !(st.st_dev == self->st_dev && st.st_ino == self->st_ino);
}

static char *real_search_path(const struct stat *self)
{
	const char *path = getenv("PATH"), *end;
	char *file;

	for (; path; path = *end ? end + 1 : NULL) {
		int n;

		end = strchrnul(path, ':');
		n = (int) (end - path);
		if (asprintf(&file, "%.*s%slttng", n, path, n ? "/" : "") < 0)
			return NULL;
		if (real_is_other_program(file, self))
			return file;
		free(file);
	}
	return NULL;
}

char *real_lttng_find(void)
{
	const char *named = getenv(REAL_ENV);
	struct stat self;
	char *file;

	if (stat("/proc/self/exe", &self) < 0)
		memset(&self, 0, sizeof(self));
	if (named && *named)
		return real_is_other_program(named, &self) ? strdup(named) : NULL;
	file = real_search_path(&self);
	if (!file && real_is_other_program("/usr/bin/lttng", &self))
		file = strdup("/usr/bin/lttng");
	return file;
}

int real_lttng_exec(char **argv)
{
	const char *named = getenv(REAL_ENV), *guard = getenv(REAL_GUARD_ENV);
	char self[32], *file;
	int error;

	snprintf(self, sizeof(self), "%ld", (long) getpid());
	if (guard && !strcmp(guard, self)) {
		say_error("the lttng found in PATH only calls lttng-spi's front end again: set " REAL_ENV
			  " to the real lttng");
		return 127;
	}
	file = real_lttng_find();
	if (!file) {
		if (named && *named)
			say_error("%s: not a real lttng program: correct or unset " REAL_ENV, named);
		else
			say_error("the real lttng was not found in PATH: install lttng-tools or set " REAL_ENV);
		return 127;
	}
	setenv(REAL_GUARD_ENV, self, 1);
	/* lttng prints its own name as it was called: who called us by path gets the other path. */
	if (argv[0] && strchr(argv[0], '/'))
		argv[0] = file;
	execv(file, argv);
	error = errno;
	say_error("%s: %s", file, strerror(error));
	free(file);
	return error == ENOENT ? 127 : 126;
}
