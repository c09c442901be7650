/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng-spi prototypes FILE...`: are these files right, and what is in them? spi-codemap, which uses such files, reads
 * them, in its sandbox.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "reader/base/text.h"
#include "reader/commands/reading.h"

static const char usage[] = "Usage: lttng-spi prototypes [--quiet] FILE...\n"
	"Check files of prototypes, which give types to functions without debug info, and\n"
	"print the declarations that are in them. An error is printed with its line and\n"
	"column, and the exit status is 1. See lttng-spi(1), PROTOTYPES.\n"
	"  -q, --quiet       print errors only\n"
	"  -h, --help        this help\n";

/* In the build tree it is beside this program's directory. */
static void codemap_path(char *path, size_t size)
{
	char self[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n > 0 ? n : 0] = 0;
	slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	snprintf(path, size, "%s/../codemap/spi-codemap", self);
	if (access(path, X_OK) < 0)
		snprintf(path, size, "%s", SPI_CODEMAP_PATH);
}

int command_prototypes(int argc, char **argv)
{
	static const struct option options[] = {
		{ "quiet", no_argument, NULL, 'q' }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 },
	};
	char path[PATH_MAX + 64], **words = calloc((size_t) argc + 4, sizeof(*words));
	int c, n = 0, is_quiet = 0;

	while ((c = getopt_long(argc, argv, "qh", options, NULL)) != -1) {
		if (c == 'h') {
			free(words);
			return fputs(usage, stdout) < 0;
		}
		if (c != 'q') {
			free(words);
			return 1;
		}
		is_quiet = 1;
	}
	if (!words || optind == argc) {
		free(words);
		say_error("prototypes: which files? See lttng-spi prototypes --help");
		return 1;
	}
	codemap_path(path, sizeof(path));
	words[n++] = path;
	words[n++] = (char *) "prototypes";
	if (is_quiet)
		words[n++] = (char *) "--quiet";
	words[n++] = (char *) "--";
	memcpy(words + n, argv + optind, (size_t) (argc - optind) * sizeof(*words));
	execv(path, words);
	say_error("%s: %s", path, strerror(errno));
	free(words);
	return 1;
}
