/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The entry of the module lttng-front.so, which has the project's own commands: `lttng trace`, and three
 * others with --spi. The program `lttng` loads the module when it is called for one of them.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include <lttng/lttng.h>

#include "cli/front.h"
#include "cli/base/say.h"
#include "cli/commands/commands.h"
#include "cli/ui/general-options.h"
#include "cli/ui/rule-options.h"
#include "cli/ui/trace-options.h"

extern int lttng_opt_quiet __attribute__((weak));	/* of liblttng-ctl's */

/* A socket of ours must never become descriptor 0, 1 or 2; COMMAND still finds closed what was closed. */
static void standard_streams_reserve(void)
{
	int fd;

	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
			return;
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

int spi_front_main(int argc, char **argv)
{
	struct trace_options options = TRACE_OPTIONS_INIT;
	int at = general_options_parse(argc, argv, &options);
	int is_trace = !strcmp(argv[at], "trace");

	if (!strcmp(argv[at], "help"))
		return trace_options_help();
	standard_streams_reserve();
	/* It has messages of its own for what it returns, too. */
	if (&lttng_opt_quiet)
		lttng_opt_quiet = 1;
	say_quiet = options.quiet;
	say_verbose = options.verbose > 0;
	return is_trace ? trace_run(argc - at, argv + at, &options) :
		rule_command(argc - at, argv + at, &options);
}
