/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What options of `lttng trace` ask for together: what is meant where it is not said, and what makes no sense. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/say.h"
#include "cli/ui/memory-options.h"
#include "cli/ui/process-options.h"
#include "cli/ui/trace-options.h"
#include "cli/ui/typed.h"
#include "injector/base/paths.h"

static int usage(const char *problem)
{
	say_error("trace: %s: see lttng trace --help", problem);
	return -EINVAL;
}

/* Each LIBRARY of "LIBRARY,LIBRARY" with all its functions; the texts live as long as the rules. */
static int option_libraries(struct trace_options *o, const char *list)
{
	int ret = 0;

	while (ret == 0 && list && *list) {
		size_t n = strcspn(list, ",");
		char *func;

		if (asprintf(&func, "%.*s:*", (int) n, list) < 0)
			return -ENOMEM;
		if (n)
			ret = typed_add(&o->funcs, &o->func_count, func);
		list += n + (list[n] == ',');
	}
	return ret;
}

/*
 * Payloads without -f and --tree: a tree below main(), as with SPI. gprof counts what -pg counts: all functions of the
 * executable, and of the libraries that it is told. The programs that this one executes would write over its files.
 */
static int payload_defaults(struct trace_options *o)
{
	int ret;

	if (o->process && (ret = process_ask(o)) < 0)
		return ret;
	if (o->memory)
		return memory_ask(o);
	if (!o->asked.payloads.count || o->list)
		return 0;
	if (payload_is_asked(&o->asked, "gprof"))
		o->asked.unfollowed |= SPI_FOLLOW_EXEC;
	if (o->func_count || o->tree.count)
		return 0;
	if (payload_is_asked(&o->asked, "hist") && payload_argument(&o->asked, "by"))
		return usage("--payload hist=ARG goes with -f FUNC");
	if (!payload_is_asked(&o->asked, "gprof") || o->tree.option)
		return tree_ask(&o->tree, "");
	ret = typed_add(&o->funcs, &o->func_count, "*");
	return ret ? ret : option_libraries(o, payload_argument(&o->asked, "objects"));
}

/* A tree that only our own reader is to see is recorded compact: a fraction of the cost. */
static void view_choose(struct trace_options *o)
{
	if (o->view == VIEW_DEFAULT)
		o->view = isatty(STDOUT_FILENO) && !o->output && spi_path_reader() ? VIEW_CALLS : VIEW_EVENTS;
	if (o->view != VIEW_EVENTS && !o->output && o->tree.count && !o->func_count && !o->asked.payloads.count)
		o->asked.compact = 1;
}

/* What must and must not stand together. Returns the action, or a negative errno. */
static int options_check(const struct trace_options *o)
{
	char problem[300];
	unsigned int i;

	if (o->machine_output)
		return usage("--mi is not available for this command");
	for (i = 0; i < o->func_count; i++)
		if (!*o->funcs[i])
			return usage("-f needs the name of a function");
	if (o->list) {
		if (o->output || o->duration >= 0 || o->asked.one_event || o->asked.exec.count || o->tree.count ||
		    o->tree.option || o->asked.backtrace || o->libcalls)
			return usage("-l goes with -f, and a BINARY or -p only");
		if (o->pid_count > 1 || o->pid_count + (unsigned int) o->command_count != 1)
			return usage("-l needs one BINARY, or one -p PID");
		return TRACE_ACTION_LIST;
	}
	if (o->libcalls && o->libcalls != o->func_count)
		return usage("either --libcalls or -f: they are recorded in different ways");
	if (tree_check(&o->tree, &o->asked, problem) < 0)
		return usage(problem);
	if (!o->func_count && !o->tree.count && !o->process)
		return usage("which function? -f FUNC is missing, or --tree or --libcalls");
	if (!o->func_count && o->asked.one_event)
		return usage("--one-event goes with -f FUNC: a tree has entries and exits");
	if (!o->func_count && o->asked.backtrace)
		return usage("--backtrace goes with -f FUNC: a tree's entries tell who calls by themselves");
	if (o->output && (o->view == VIEW_CALLS || o->view == VIEW_JSON))
		return usage("--format goes without -o DIR: `lttng-spi calls DIR` prints the same later");
	if (o->buffers && o->asked.payloads.count && !o->output && !o->memory)
		return usage("--payload with --buffers goes with -o: nothing is recorded otherwise");
	if (o->asked.payloads.count && o->view != VIEW_DEFAULT && !o->output && !o->memory)
		return usage("--payload goes with --report and -o DIR, and without --format: nothing is recorded otherwise");
	if (o->asked.payloads.count && o->string_max && !o->output)
		return usage("--payload with --string-max goes with -o: nothing is recorded otherwise");
	if (o->asked.exec.count) {
		if (o->prototype_count)
			return usage("--prototypes goes without --exec: files in ~/.config/lttng-spi/prototypes go with it");
		if (o->command_count || o->pid_count)
			return usage("--exec NAME goes with neither a COMMAND nor -p PID");
		return o->string_max ? usage("--string-max does not go with --exec") : TRACE_ACTION_EXEC;
	}
	if (o->pid_count) {
		if (o->command_count)
			return usage("either -p PID or a COMMAND, not both");
		return TRACE_ACTION_PROCESS;
	}
	if (!o->command_count || !*o->command[0])
		return usage("what is to be traced? A COMMAND, -p PID or --exec NAME is missing");
	if (o->duration >= 0)
		return usage("--duration goes with -p PID or --exec NAME");
	return TRACE_ACTION_COMMAND;
}

int trace_options_check(struct trace_options *o)
{
	int action = payload_defaults(o);

	if (action == 0)
		action = options_check(o);
	view_choose(o);
	return action;
}
