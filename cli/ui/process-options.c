/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <errno.h>

#include "cli/base/say.h"
#include "cli/ui/process-options.h"
#include "cli/ui/trace-options.h"

int process_ask(struct trace_options *o)
{
	const int is_alone = !o->func_count && !o->tree.count;
	const char *problem = NULL;
	int ret;

	if (o->memory || o->asked.payloads.count || o->asked.ipc || o->list)
		problem = "--process-events goes without --memory, --payload, --ipc and -l";
	else if (o->asked.exec.count && !is_alone)
		problem = "--process-events with --exec goes without -f, --tree and --libcalls";
	else if (is_alone && (o->view != VIEW_DEFAULT || o->string_max || o->asked.backtrace || o->asked.one_event))
		problem = "--process-events alone goes without --format, --report, --string-max, --backtrace and "
			"--one-event";
	else if (is_alone && o->buffers && !o->output)
		problem = "--process-events with --buffers goes with -o: nothing is recorded otherwise";
	if (problem) {
		say_error("trace: %s: see lttng trace --help", problem);
		return -EINVAL;
	}
	ret = payload_take(&o->process_asked, "payload", "process");
	if (ret == 0)
		ret = payload_take(&o->process_asked, "payload-arg", o->output || !is_alone ? "record=1" : "record=0");
	return ret;
}
