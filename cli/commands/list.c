/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* `lttng list --spi`: what the daemon's plugin says on its status socket. Nothing is asked of the daemon itself. */
#include <stdio.h>
#include <string.h>

#include "cli/base/say.h"
#include "cli/commands/commands.h"
#include "cli/daemon/directory.h"
#include "cli/rules/rules.h"
#include "cli/rules/status.h"
#include "cli/ui/rule-options.h"
#include "cli/ui/trace-options.h"

static int status_has(const struct status *status, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < status->count; i++)
		if (status->records[i].pid == pid || status_is_lacked(&status->records[i], pid))
			return 1;
	return 0;
}

int rules_list(const struct rule_options *options)
{
	pid_t pid = options->nr_pids ? options->pids[0] : 0;
	struct status status;
	int fd = plugin_await(1), ret = 0;

	if (fd < 0) {
		say_error("no session daemon with the plugin is running: start one with spi-sessiond, or for one that "
			"runs already: spi-sessiond --attach");
		return TRACE_STATUS_ERROR;
	}
	if (status_read(&status, fd) < 0)
		return TRACE_STATUS_ERROR;
	if (pid && !status_has(&status, pid)) {
		say_error("%d: no such process under the session daemon's plugin, or it is another user's", (int) pid);
		ret = -1;
	} else if (!say_quiet && options->machine_output) {
		ret = status_print_xml(&status, pid, stdout);
		if (ret < 0)
			say_error("%s", strerror(-ret));
	} else if (!say_quiet) {
		status_print_text(&status, pid, say_verbose, stdout);
	}
	status_free(&status);
	return rules_printed(ret < 0 ? TRACE_STATUS_ERROR : 0);
}
