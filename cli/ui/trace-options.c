/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The command line of `lttng trace`. Options end at COMMAND, so that COMMAND's
 * own options need no quoting, as with env, timeout, perf and uftrace.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/say.h"
#include "cli/ui/memory-options.h"
#include "cli/ui/trace-options.h"
#include "cli/ui/typed.h"
#include "injector/procfs/procfs.h"

/* tp/base/base.h: what the module keeps of a string. */
#define STRING_LEAST	16
#define STRING_MOST	2000

enum long_option {
	OPTION_DURATION = 256,
	OPTION_STRING_MAX,
	OPTION_SUBBUF_SIZE,
	OPTION_NUM_SUBBUF,
	OPTION_MEMORY,
	OPTION_PROCESS,
	OPTION_BUFFERS,
	OPTION_PAYLOAD,
	OPTION_PAYLOAD_ARG,
	OPTION_PROTOTYPES,
	OPTION_FORMAT,
	OPTION_LIBCALLS,
	OPTION_REPORT,
	OPTION_LIST_OPTIONS,
};

static const struct option trace_long_options[] = {
	{ "function", required_argument, NULL, 'f' },
	{ "list", no_argument, NULL, 'l' },
	{ "pid", required_argument, NULL, 'p' },
	{ "output", required_argument, NULL, 'o' },
	{ "duration", required_argument, NULL, OPTION_DURATION },
	{ "string-max", required_argument, NULL, OPTION_STRING_MAX },
	{ "subbuf-size", required_argument, NULL, OPTION_SUBBUF_SIZE },
	{ "num-subbuf", required_argument, NULL, OPTION_NUM_SUBBUF },
	{ "format", required_argument, NULL, OPTION_FORMAT },
	{ "report", no_argument, NULL, OPTION_REPORT },
	{ "libcalls", optional_argument, NULL, OPTION_LIBCALLS },
	{ "buffers", required_argument, NULL, OPTION_BUFFERS },
	{ "memory", optional_argument, NULL, OPTION_MEMORY },
	{ "process-events", no_argument, NULL, OPTION_PROCESS },
	{ "payload", required_argument, NULL, OPTION_PAYLOAD },
	{ "payload-arg", required_argument, NULL, OPTION_PAYLOAD_ARG },
	{ "prototypes", required_argument, NULL, OPTION_PROTOTYPES },
	{ "verbose", no_argument, NULL, 'v' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ "list-options", no_argument, NULL, OPTION_LIST_OPTIONS },
	{ NULL, 0, NULL, 0 },
};

static int option_bad(const char *name, const char *value, const char *wanted)
{
	say_error("%s: %s is not %s", name, *value ? value : "''", wanted);
	return -EINVAL;
}

/* A whole number in [low, high]; `units` allows the suffixes k, K, M and G, as lttng does. */
static int option_number(const char *name, const char *text, int units, uint64_t low, uint64_t high, uint64_t *value)
{
	static const char suffixes[] = "kMG";
	char wanted[96], *end;
	const char *unit;
	unsigned int shift = 0;

	snprintf(wanted, sizeof(wanted), "a number from %llu to %llu", (unsigned long long) low,
		(unsigned long long) high);
	errno = 0;
	if (*text < '0' || *text > '9')
		return option_bad(name, text, wanted);
	*value = strtoull(text, &end, 10);
	if (units && *end && (unit = strchr(suffixes, *end == 'K' ? 'k' : *end))) {
		shift = 10 * (unsigned int) (unit - suffixes + 1);
		end++;
	}
	if (errno || *end || *value > (high >> shift) || (*value << shift) < low)
		return option_bad(name, text, wanted);
	*value <<= shift;
	return 0;
}

static int option_duration(const char *text, int64_t *ms)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || text[strspn(text, "0123456789.")] || !isfinite(seconds) || seconds <= 0 || seconds > 1e9)
		return option_bad("--duration", text, "a positive number of seconds");
	*ms = (int64_t) (seconds * 1000);
	if (*ms == 0)
		*ms = 1;
	return 0;
}

static int option_power_of_two(const char *name, uint64_t value)
{
	if (value & (value - 1)) {
		say_error("%s: %llu is not a power of two", name, (unsigned long long) value);
		return -EINVAL;
	}
	return 0;
}

static int option_pid(struct trace_options *o, pid_t pid)
{
	unsigned int i;
	pid_t *pids;

	for (i = 0; i < o->pid_count; i++)
		if (o->pids[i] == pid)
			return 0;
	pids = realloc(o->pids, (o->pid_count + 1) * sizeof(*pids));
	if (!pids)
		return -ENOMEM;
	o->pids = pids;
	o->pids[o->pid_count++] = pid;
	return 0;
}

/* A PID, or a NAME: all processes that are known by it, as --exec knows them. */
static int option_process(struct trace_options *o, const char *text)
{
	pid_t *pids = NULL;
	uint64_t number;
	int i, n, ret = 0;

	if (!text[strspn(text, "0123456789")] || *text == '-') {
		ret = option_number("--pid", text, 0, 1, INT32_MAX, &number);
		return ret ? ret : option_pid(o, (pid_t) number);
	}
	n = spi_names_find(text, &pids);
	for (i = 0; i < n && ret == 0; i++)
		ret = option_pid(o, pids[i]);
	free(pids);
	o->named = 1;
	if (n > 0)
		return ret;
	say_error("--pid: %s: no process of this name runs", text);
	return -ESRCH;
}

static int option_format(const char *text, enum trace_view *view)
{
	static const char *const names[] = { "", "events", "calls", "json" };

	for (unsigned int i = VIEW_EVENTS; i <= VIEW_JSON; i++)
		if (!strcmp(text, names[i])) {
			*view = (enum trace_view) i;
			return 0;
		}
	return option_bad("--format", text, "events, calls or json");
}

/* Each [LIBRARY:]FUNC of "FUNC,FUNC"; the texts live as long as the rules. A comma in parentheses is of a C++ name. */
static int option_libcalls(struct trace_options *o, const char *list)
{
	int ret = 0;

	while (ret == 0) {
		int depth = 0;
		size_t n = 0;
		char *func;

		for (; list[n] && (list[n] != ',' || depth); n++)
			depth += strchr("(<", list[n]) ? 1 : strchr(")>", list[n]) ? -1 : 0;
		if (!n)
			return option_bad("--libcalls", list, "a list of [LIBRARY:]FUNC, with commas between them");
		if (asprintf(&func, "%.*s", (int) n, list) < 0)
			return -ENOMEM;
		if (spi_target_function(func) == func) {
			free(func);
			if (asprintf(&func, "*:%.*s", (int) n, list) < 0)
				return -ENOMEM;
		}
		o->libcalls++;
		ret = typed_add(&o->funcs, &o->func_count, func);
		if (!list[n])
			return ret;
		list += n + 1;
	}
	return ret;
}

static int option_take(struct trace_options *o, int c, const char *value)
{
	uint64_t number = 0;
	int ret;

	switch (c) {
	case 'f':
		return typed_add(&o->funcs, &o->func_count, name_written(value));
	case 'l':
		o->list = 1;
		return 0;
	case 'p':
		return option_process(o, value);
	case 'o':
		if (!*value)
			return option_bad("--output", value, "a directory");
		o->output = value;
		return 0;
	case OPTION_DURATION:
		return option_duration(value, &o->duration);
	case OPTION_STRING_MAX:
		ret = option_number("--string-max", value, 0, STRING_LEAST, STRING_MOST, &number);
		o->string_max = (uint32_t) number;
		return ret;
	case OPTION_SUBBUF_SIZE:
		ret = option_number("--subbuf-size", value, 1, 4096, 1ULL << 30, &o->subbuf_size);
		return ret ? ret : option_power_of_two("--subbuf-size", o->subbuf_size);
	case OPTION_NUM_SUBBUF:
		ret = option_number("--num-subbuf", value, 0, 2, 1024, &o->subbuf_count);
		return ret ? ret : option_power_of_two("--num-subbuf", o->subbuf_count);
	case OPTION_FORMAT:
		return option_format(value, &o->view);
	case OPTION_REPORT:
		o->view = VIEW_REPORT;
		return 0;
	case OPTION_LIBCALLS:
		o->asked.libcalls = 1;
		return option_libcalls(o, value ? value : "*:*");
	case OPTION_BUFFERS:
		o->buffers = !strcmp(value, "uid") ? BUFFERS_UID : !strcmp(value, "pid") ? BUFFERS_PID : BUFFERS_DEFAULT;
		return o->buffers ? 0 : option_bad("--buffers", value, "uid or pid");
	case OPTION_MEMORY:
		return memory_take(o, value);
	case OPTION_PROCESS:
		o->process = 1;
		return 0;
	case OPTION_PAYLOAD:
		return payload_take(&o->asked, "payload", value);
	case OPTION_PAYLOAD_ARG:
		return payload_take(&o->asked, "payload-arg", value);
	case OPTION_PROTOTYPES:
		return *value ? typed_add(&o->prototypes, &o->prototype_count, value) :
			option_bad("--prototypes", value, "a file");
	case 'v':
		say_verbose = ++o->verbose;
		return 0;
	case 'q':
		say_quiet = o->quiet = 1;
		return 0;
	}
	ret = tree_take(&o->tree, &o->asked, c, value ? name_written(value) : NULL);
	if (!o->exec && o->asked.exec.count)
		o->exec = o->asked.exec.name[0];
	return ret;
}

enum trace_action trace_options_parse(struct trace_options *o, int argc, char **argv, int *status)
{
	const struct option *options = tree_long_options(trace_long_options);
	int c, action;

	*status = TRACE_STATUS_USAGE;
	optind = 0;	/* glibc: start afresh */
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:f:lp:o:vqh", options, NULL)) != -1) {
		if (c == 'h' || c == OPTION_LIST_OPTIONS) {
			*status = c == 'h' ? trace_options_help() : options_list(options);
			return TRACE_ACTION_NONE;
		}
		if (c == ':' || c == '?') {
			say_error("trace: %s: %s: see lttng trace --help", argv[optind - 1],
				c == ':' ? "its value is missing" : "unknown option");
			return TRACE_ACTION_NONE;
		}
		if (option_take(o, c, optarg) < 0)
			return TRACE_ACTION_NONE;
	}
	o->command = argv + optind;
	o->command_count = argc - optind;
	action = trace_options_check(o);
	return action < 0 ? TRACE_ACTION_NONE : action;
}

void trace_options_free(struct trace_options *o)
{
	free(o->funcs);
	o->funcs = NULL;
	free(o->pids);
	o->pids = NULL;
	free(o->prototypes);
	o->prototypes = NULL;
	tree_free(&o->tree);
}
