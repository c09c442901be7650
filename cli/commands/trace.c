/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* `lttng trace`: which of its forms the command line asks for. */
#include "cli/commands/commands.h"
#include "cli/ui/trace-options.h"

int trace_run(int argc, char **argv, struct trace_options *options)
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
		status = options->asked.payloads.count || options->process ? trace_found(options) : trace_exec(options);
		break;
	case TRACE_ACTION_NONE:
		break;
	}
	trace_options_free(options);
	return status;
}
