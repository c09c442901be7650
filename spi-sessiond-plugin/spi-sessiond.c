/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * spi-sessiond: the stock session daemon with the plugin in it.
 *
 * It only sets LD_PRELOAD and becomes the real lttng-sessiond, with all
 * arguments. So it can stand wherever that stands: in LTTNG_SESSIOND_PATH, which
 * `lttng create` starts, in a service file, or first in PATH under its name.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spi-sessiond-plugin/attach.h"
#include "spi-sessiond-plugin/base/base.h"

#define REAL_NAME	"lttng-sessiond"
#define REAL_USUAL	"/usr/bin/" REAL_NAME

static const char usage[] =
	"Usage: spi-sessiond [LTTNG-SESSIOND-OPTION]...\n"
	"       spi-sessiond --attach [PID]\n"
	"Run lttng-sessiond with function tracing, or bring function tracing into a session\n"
	"daemon that runs already: PID, or else this user's.\n"
	"\n"
	"  --attach [PID]   load the plugin into a running session daemon\n"
	"  -h, --help       show this help and exit (that of the daemon: lttng-sessiond --help)\n"
	"  --spi-version    show the version of lttng-spi and exit\n"
	"\n"
	"LTTNG_SPI_REAL_SESSIOND names the lttng-sessiond to run, LTTNG_SPI_PLUGIN the plugin.\n"
	"With LTTNG_SESSIOND_PATH set to spi-sessiond's path, lttng create starts it.\n";

/* Beside this program in the build tree, else where it was installed. NULL: nowhere. */
static const char *plugin_path(char path[static PATH_MAX])
{
	const char *value = getenv("LTTNG_SPI_PLUGIN");
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	if (value && *value)
		return realpath(value, path) ? path : NULL;
	if (n > 0) {
		path[n] = 0;
		slash = strrchr(path, '/');
		/* BUILD/spi-sessiond-plugin, or its .libs when libtool wraps the program in a script. */
		if (slash - path >= 6 && !strncmp(slash - 6, "/.libs/", 7))
			slash -= 6;
		if (snprintf(slash, path + PATH_MAX - slash, "/.libs/" PLUGIN_LIBRARY) < path + PATH_MAX - slash &&
		    !access(path, R_OK))
			return path;
	}
	if (snprintf(path, PATH_MAX, "%s/%s", SPI_PKGLIBDIR, PLUGIN_LIBRARY) >= PATH_MAX)
		return NULL;
	return access(path, R_OK) ? NULL : path;
}

/* We may be in PATH under the real one's name. */
static int is_self(const char *path)
{
	struct stat self, other;

	return !stat("/proc/self/exe", &self) && !stat(path, &other) && self.st_dev == other.st_dev &&
	       self.st_ino == other.st_ino;
}

static const char *real_path(char path[static PATH_MAX])
{
	const char *value = getenv("LTTNG_SPI_REAL_SESSIOND"), *directory = getenv("PATH");

	if (value && *value)
		return value;
	while (directory && *directory) {
		size_t n = strcspn(directory, ":");

		if (n && snprintf(path, PATH_MAX, "%.*s/" REAL_NAME, (int) n, directory) < PATH_MAX &&
		    !access(path, X_OK) && !is_self(path))
			return path;
		directory += n + (directory[n] != 0);
	}
	return REAL_USUAL;
}

static int preload_add(const char *plugin)
{
	const char *before = getenv("LD_PRELOAD");
	char *value;
	int ret;

	if (!before || !*before)
		return setenv("LD_PRELOAD", plugin, 1);
	if (asprintf(&value, "%s:%s", plugin, before) < 0)
		return -1;
	ret = setenv("LD_PRELOAD", value, 1);
	free(value);
	return ret;
}

int main(int argc, char **argv)
{
	char plugin_buffer[PATH_MAX], real_buffer[PATH_MAX];
	const char *plugin, *real, *name = argc > 1 ? argv[1] : "";

	if (!strcmp(name, "-h") || !strcmp(name, "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	if (!strcmp(name, "--spi-version")) {
		puts("spi-sessiond " SPI_VERSION);
		return 0;
	}
	plugin = plugin_path(plugin_buffer);
	if (!plugin) {
		fprintf(stderr, "spi-sessiond: %s: not found: install lttng-spi, or name it in LTTNG_SPI_PLUGIN\n",
			getenv("LTTNG_SPI_PLUGIN") ? getenv("LTTNG_SPI_PLUGIN") : SPI_PKGLIBDIR "/" PLUGIN_LIBRARY);
		return 1;
	}
	if (!strcmp(name, "--attach")) {
		if (argc > 3) {
			fprintf(stderr, "spi-sessiond: %s: --attach takes one pid: see spi-sessiond --help\n", argv[3]);
			return 2;
		}
		return attach_daemon(plugin, argc > 2 ? argv[2] : NULL);
	}
	/* The loader would take it for two libraries, and say so on the daemon's stderr. */
	if (strpbrk(plugin, ": ")) {
		fprintf(stderr, "spi-sessiond: %s: a path with a colon or a blank cannot be preloaded: "
				"install lttng-spi elsewhere\n", plugin);
		return 1;
	}
	real = real_path(real_buffer);
	if (preload_add(plugin)) {
		fprintf(stderr, "spi-sessiond: out of memory\n");
		return 1;
	}
	argv[0] = REAL_NAME;
	execv(real, argv);
	fprintf(stderr, "spi-sessiond: %s: %s: install lttng-tools, or name lttng-sessiond in "
			"LTTNG_SPI_REAL_SESSIOND\n", real, strerror(errno));
	return 127;
}
