/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The front end's main(): `lttng trace ...` is ours, anything else becomes the
 * real lttng with its arguments untouched. To find the subcommand, the real
 * lttng's general options are stepped over the way it parses them itself (they
 * end at the first word that is no option); whatever is not understood here is
 * the real lttng's to complain about.
 */
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/real.h"
#include "cli/say.h"
#include "cli/trace.h"

enum general_option {
	GENERAL_SESSIOND_PATH = 256,
	GENERAL_RELAYD_PATH,
	GENERAL_FOREIGN,
};

/* --help, --version, --list-options and --list-commands are not listed: the real lttng answers them. */
static const struct option general_options[] = {
	{ "group", required_argument, NULL, 'g' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "mi", required_argument, NULL, 'm' },
	{ "no-sessiond", no_argument, NULL, 'n' },
	{ "sessiond-path", required_argument, NULL, GENERAL_SESSIOND_PATH },
	{ "relayd-path", required_argument, NULL, GENERAL_RELAYD_PATH },
	{ NULL, 0, NULL, 0 },
};

/* Returns the index in argv of the word `trace`, or 0 when the command line is not ours. */
static int general_options_parse(int argc, char **argv, struct trace_options *o)
{
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+g:vqm:n", general_options, NULL)) != -1) {
		switch (c) {
		case 'g':
			o->group = optarg;
			break;
		case 'v':
			o->verbose++;
			break;
		case 'q':
			o->quiet = 1;
			break;
		case 'm':
			o->machine_output = optarg;
			break;
		case 'n':
			o->no_sessiond = 1;
			break;
		case GENERAL_SESSIOND_PATH:
			o->sessiond_path = optarg;
			break;
		case GENERAL_RELAYD_PATH:
			o->relayd_path = optarg;
			break;
		default:
			return 0;
		}
	}
	return optind < argc && !strcmp(argv[optind], "trace") ? optind : 0;
}

/* A socket of ours must never become descriptor 0, 1 or 2; COMMAND still finds closed what was closed. */
static void standard_streams_reserve(void)
{
	int fd;

	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
			return;
}

int main(int argc, char **argv)
{
	struct trace_options options = TRACE_OPTIONS_INIT;
	int status, at = general_options_parse(argc, argv, &options);

	if (!at)
		return real_lttng_exec(argv);
	standard_streams_reserve();
	say_quiet = options.quiet;
	say_verbose = options.verbose > 0;
	switch (trace_options_parse(&options, argc - at, argv + at, &status)) {
	case TRACE_ACTION_LIST:
		status = trace_list(&options);
		break;
	case TRACE_ACTION_COMMAND:
		status = trace_command(&options);
		break;
	case TRACE_ACTION_PROCESS:
		status = trace_process(&options);
		break;
	case TRACE_ACTION_NONE:
		break;
	}
	trace_options_free(&options);
	return status;
}
