/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The front end's main(): `lttng trace ...` is ours, and three commands when
 * --spi is among their arguments; anything else becomes the real lttng with its
 * arguments untouched. To find the subcommand, the real lttng's general options
 * are stepped over the way it parses them itself (they end at the first word that
 * is no option); whatever is not understood here is the real lttng's to complain
 * about.
 *
 * Many commands of the real lttng start a session daemon when there is none. It
 * is told to start the one with the plugin, in the way that it offers for this;
 * a user who chose a daemon himself gets that one.
 */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <lttng/lttng.h>

#include "cli/daemon-directory.h"
#include "cli/options.h"
#include "cli/real.h"
#include "cli/rule-options.h"
#include "cli/rules.h"
#include "cli/say.h"
#include "cli/trace.h"

extern int lttng_opt_quiet __attribute__((weak));	/* of liblttng-ctl's */

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

/* Returns the index in argv of the command, or 0 when there is none, or one that is not ours to look for. */
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
	return optind < argc ? optind : 0;
}

/* A socket of ours must never become descriptor 0, 1 or 2; COMMAND still finds closed what was closed. */
static void standard_streams_reserve(void)
{
	int fd;

	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
			return;
}

static int real_command(char **argv, const struct trace_options *options)
{
	const char *path = sessiond_default();

	/* Never over what the user set, not even when it is empty. */
	if (path && !options->sessiond_path)
		setenv("LTTNG_SESSIOND_PATH", path, 0);
	return real_lttng_exec(argv);
}

static int rule_command(int argc, char **argv, const struct trace_options *general)
{
	struct rule_options options = { .machine_output = general->machine_output };
	int status;
	enum rule_action action = rule_options_parse(&options, argc, argv, &status);

	/* The daemon may close the connection while a filter is being sent. */
	signal(SIGPIPE, SIG_IGN);
	if (action != RULE_ACTION_NONE && general->group && lttng_set_tracing_group(general->group) < 0) {
		say_error("%s: not usable as the tracing group", general->group);
		action = RULE_ACTION_NONE;
		status = TRACE_STATUS_ERROR;
	}
	if (action == RULE_ACTION_ENABLE)
		status = rules_enable(&options);
	else if (action == RULE_ACTION_DISABLE)
		status = rules_disable(&options);
	else if (action == RULE_ACTION_LIST)
		status = rules_list(&options);
	rule_options_free(&options);
	return status;
}

static int trace_subcommand(int argc, char **argv, struct trace_options *options)
{
	int status;

	switch (trace_options_parse(options, argc, argv, &status)) {
	case TRACE_ACTION_LIST:
		status = trace_list(options);
		break;
	case TRACE_ACTION_COMMAND:
		status = trace_command(options);
		break;
	case TRACE_ACTION_PROCESS:
		status = trace_process(options);
		break;
	case TRACE_ACTION_EXEC:
		status = trace_exec(options);
		break;
	case TRACE_ACTION_NONE:
		break;
	}
	trace_options_free(options);
	return status;
}

int main(int argc, char **argv)
{
	struct trace_options options = TRACE_OPTIONS_INIT;
	int at = general_options_parse(argc, argv, &options);
	int is_trace = at && !strcmp(argv[at], "trace");

	/* The real lttng knows its own commands' manual pages. */
	if (at && argc - at == 2 && !strcmp(argv[at], "help") && !strcmp(argv[at + 1], "trace"))
		return trace_options_help();
	if (!is_trace && !(at && rule_options_ours(argc - at, argv + at)))
		return real_command(argv, &options);
	standard_streams_reserve();
	/* It has messages of its own for what it returns, too. */
	if (&lttng_opt_quiet)
		lttng_opt_quiet = 1;
	say_quiet = options.quiet;
	say_verbose = options.verbose > 0;
	return is_trace ? trace_subcommand(argc - at, argv + at, &options) :
		rule_command(argc - at, argv + at, &options);
}
