/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The directory that a trace is recorded to: new, or empty and ours to write to. LTTng wants an absolute path. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/say.h"
#include "cli/run/internal.h"
#include "cli/ui/trace-options.h"

static int directory_is_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int n = 0;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)) && n < 3)
		n++;
	closedir(dir);
	return n < 3;
}

/* The directory and its missing parents. */
static int directory_make(char *path)
{
	char *slash;

	for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0777) < 0 && errno != EEXIST) {
			int error = errno;

			*slash = '/';
			return -error;
		}
		*slash = '/';
	}
	return mkdir(path, 0770) < 0 ? -errno : 0;
}

/* The session daemon takes no path with `..` in it. */
static void run_output_plain(struct run *run)
{
	char *plain = realpath(run->output, NULL);

	if (!plain)
		return;
	free(run->output);
	run->output = plain;
}

/* What is to be looked at once, when the program has ended. */
static int output_temporary(struct run *run)
{
	const char *place = getenv("TMPDIR");

	if (asprintf(&run->output, "%s/lttng-spi-memory-XXXXXX", place && *place == '/' ? place : "/tmp") < 0)
		run->output = NULL;
	if (!run->output || !mkdtemp(run->output)) {
		say_error("%s: %s: set TMPDIR to another directory, or give -o DIR", run->output ? run->output : "a directory",
			strerror(errno));
		free(run->output);
		run->output = NULL;
		return TRACE_STATUS_ERROR;
	}
	run->is_temporary = 1;
	return 0;
}

int run_take_output(struct run *run)
{
	const char *dir = run->options->output;
	char here[4096];
	int ret;

	if (!dir)
		return run->options->memory ? output_temporary(run) : 0;
	if (*dir != '/' && !getcwd(here, sizeof(here)))
		ret = -errno;
	else
		ret = asprintf(&run->output, "%s%s%s", *dir == '/' ? "" : here, *dir == '/' ? "" : "/", dir) < 0 ?
			-ENOMEM : 0;
	if (ret < 0) {
		run->output = NULL;
		say_error("%s: %s", dir, strerror(-ret));
		return TRACE_STATUS_ERROR;
	}
	for (ret = (int) strlen(run->output); ret > 1 && run->output[ret - 1] == '/'; ret--)
		run->output[ret - 1] = '\0';
	ret = directory_make(run->output);
	run->output_made = ret == 0;
	if (ret == -EEXIST) {
		ret = directory_is_empty(run->output);
		if (ret == 0)
			ret = -ENOTEMPTY;
		else if (ret > 0)
			ret = access(run->output, W_OK | X_OK) < 0 ? -errno : 0;
	}
	if (ret < 0)
		say_error("%s: cannot record there: %s%s", dir, strerror(-ret),
			ret == -ENOTEMPTY ? ": name a new directory" : "");
	else
		run_output_plain(run);
	return ret < 0 ? TRACE_STATUS_ERROR : 0;
}
