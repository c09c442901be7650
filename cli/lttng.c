/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The front end's main(). `lttng trace ...` is the project's own, and so are three commands when --spi
 * is among their arguments. For anything else this process becomes the real lttng, with its arguments
 * untouched. To find the subcommand, the real lttng's general options are stepped over the way the
 * real lttng parses them (ui/general-options.c).
 *
 * Every lttng command passes through here, and most are the real lttng's. So this program needs libc
 * alone, and loads a module for the others (front.c). With that module's libraries linked in,
 * `lttng list` would take nearly twice the processor time, most of it the dynamic linker's.
 *
 * Many commands of the real lttng start a session daemon when there is none. The real lttng is told to
 * start the one with the plugin, in the way that it offers for this; a user who chose a daemon gets
 * that one.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/front.h"
#include "cli/real.h"
#include "cli/base/say.h"
#include "cli/daemon/default-program.h"
#include "cli/ui/general-options.h"
#include "cli/ui/terminal-text.h"

/* `command`: NULL, or the real lttng's command. */
static int real_command(char **argv, const char *command, const struct trace_options *options)
{
	const char *path = sessiond_default();

	if (command && !strcmp(command, "list") && isatty(STDOUT_FILENO))
		clean_output();

	/* Never over what the user set, not even when it is empty. */
	if (path && !options->sessiond_path)
		setenv("LTTNG_SESSIOND_PATH", path, 0);
	return real_lttng_exec(argv);
}

/* Is argv (argv[0]: the command) one of those that know --spi, and that among its arguments? */
static int is_rule_command(int argc, char **argv)
{
	static const char *const commands[] = { "enable-event", "disable-event", "list" };
	unsigned int i, n = sizeof(commands) / sizeof(commands[0]);
	int k;

	for (i = 0; i < n && strcmp(argv[0], commands[i]); i++)
		;
	for (k = 1; i < n && k < argc && strcmp(argv[k], "--"); k++)
		if (!strcmp(argv[k], "--spi"))
			return 1;
	return 0;
}

static int is_ours(int argc, char **argv)
{
	/* The real lttng knows its own commands' manual pages. */
	if (argc == 2 && !strcmp(argv[0], "help"))
		return !strcmp(argv[1], "trace");
	return !strcmp(argv[0], "trace") || is_rule_command(argc, argv);
}

/* In the build tree the module is below this program's directory; else it is where it was to be installed. */
static void *module_load(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;
	int left;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	left = slash ? (int) (path + sizeof(path) - slash) : 0;
	if (left && snprintf(slash, (size_t) left, "/.libs/" SPI_FRONT_MODULE) < left && !access(path, R_OK))
		return dlopen(path, RTLD_NOW);
	return dlopen(SPI_PKGLIBDIR "/" SPI_FRONT_MODULE, RTLD_NOW);
}

static int own_command(int argc, char **argv)
{
	void *module = module_load();
	int (*front)(int argc, char **argv) = module ? (int (*)(int, char **)) dlsym(module, SPI_FRONT_MAIN) : NULL;

	if (!front) {
		say_error("%s: install lttng-spi again", dlerror());
		return TRACE_STATUS_ERROR;
	}
	return front(argc, argv);
}

int main(int argc, char **argv)
{
	struct trace_options options = TRACE_OPTIONS_INIT;
	int at = general_options_parse(argc, argv, &options);

	return at && is_ours(argc - at, argv + at) ? own_command(argc, argv) :
		real_command(argv, at ? argv[at] : NULL, &options);
}
