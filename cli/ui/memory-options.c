/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/say.h"
#include "cli/ui/memory-options.h"
#include "cli/ui/trace-options.h"
#include "cli/ui/typed.h"
#include "payloads/memory-names.h"

#define NAME(name, what, first, second) #name,

int memory_take(struct trace_options *o, const char *value)
{
	o->memory = MEMORY_OF_LIBC;
	if (!value)
		return 0;
	if (strcmp(value, "python")) {
		say_error("--memory: %s is not python, the one allocator that is seen only where it is named",
			*value ? value : "''");
		return -EINVAL;
	}
	o->memory = MEMORY_OF_PYTHON;
	return 0;
}

static int names_take(struct trace_options *o, const char *const *names, size_t count)
{
	int ret = 0;

	for (size_t i = 0; i < count && ret == 0; i++)
		ret = typed_add(&o->funcs, &o->func_count, names[i]);
	return ret;
}

int memory_ask(struct trace_options *o)
{
	static const char *const names[] = { MEMORY_NAMES(NAME) }, *const python[] = { MEMORY_PYTHON_NAMES(NAME) };
	static char frames[24];
	int ret;

	if (o->func_count || o->tree.count || o->tree.option || o->asked.payloads.count || o->asked.one_event ||
	    o->list || o->string_max || o->view != VIEW_DEFAULT) {
		say_error("trace: --memory goes without -f, --tree, --libcalls, --payload, --one-event, --string-max, "
			"--format, --report and -l: see lttng trace --help");
		return -EINVAL;
	}
	ret = payload_take(&o->asked, "payload", "memory");
	if (ret == 0 && o->asked.backtrace) {
		snprintf(frames, sizeof(frames), "backtrace=%u", (unsigned int) o->asked.backtrace);
		ret = payload_take(&o->asked, "payload-arg", frames);
		o->asked.backtrace = 0;		/* it is the payload's matter */
	}
	if (ret == 0)
		ret = names_take(o, names, sizeof(names) / sizeof(names[0]));
	if (ret == 0 && o->memory == MEMORY_OF_PYTHON)
		ret = names_take(o, python, sizeof(python) / sizeof(python[0]));
	if (!o->buffers && o->output)
		o->buffers = BUFFERS_PID;	/* Trace Compass looks at addresses alone */
	o->view = o->output ? VIEW_EVENTS : VIEW_LEAKS;
	return ret;
}
