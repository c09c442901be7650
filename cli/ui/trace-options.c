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
#include <unistd.h>

#include "cli/base/say.h"
#include "cli/ui/memory-options.h"
#include "cli/ui/process-options.h"
#include "cli/ui/trace-options.h"
#include "cli/ui/typed.h"
#include "injector/base/paths.h"
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

static const char trace_help[] =
"Usage: lttng [GENERAL OPTIONS] trace (-f FUNC | --tree[=ROOT])... [-o DIR] COMMAND [ARGS]\n"
"       lttng [GENERAL OPTIONS] trace (-f FUNC | --tree[=ROOT])... [-o DIR]\n"
"             (-p PID|NAME [-p PID|NAME]... | --exec NAME [--exec NAME]...)\n"
"             [--duration S]\n"
"       lttng [GENERAL OPTIONS] trace --memory [--backtrace[=N]] [-o DIR]\n"
"             (COMMAND [ARGS] | -p PID|NAME... | --exec NAME...) [--duration S]\n"
"       lttng [GENERAL OPTIONS] trace --process-events [-f FUNC | --tree[=ROOT]]...\n"
"             [-o DIR] (COMMAND [ARGS] | -p PID|NAME... | --exec NAME...) [--duration S]\n"
"       lttng trace -l [-f FUNC]... (BINARY | -p PID|NAME)\n"
"\n"
"Trace functions of an unmodified program: each call with its arguments, each\n"
"return with its value, as LTTng events; or all calls below a function.\n"
"\n"
"  -f, --function FUNC   functions to trace: a name, a glob such as 'parse_*', a\n"
"                        qualified C++ name such as 'ns::Class::method', or one of\n"
"                        these in one executable or library: libc.so.6:malloc\n"
"  -p, --pid PID         trace this running process, and the children that it forks\n"
"                        meanwhile, until ^C or its end; several are\n"
"                        traced in one session\n"
"  -p, --pid NAME        trace all processes that are known by this name now: their\n"
"                        program's file name, the one that they were started by, what\n"
"                        ps shows; a glob\n"
"      --exec NAME       the same for running and future ones; the session daemon\n"
"                        needs the plugin, unless for --payload\n"
"      --duration S      with -p or --exec: stop after S seconds (such as 0.5)\n"
"  -o, --output DIR      record to DIR instead of printing the events\n"
"      --format FORMAT   what is printed: calls, as people read them (default on a\n"
"                        terminal), events, as babeltrace2 prints them (default\n"
"                        elsewhere), json: calls, an object a line\n"
"      --report          print a table of the functions at the end: calls and times\n"
"      --one-event       one event a call, at its end, with its duration\n"
"      --backtrace[=N]   who calls: the call stack in each entry, N frames at most (16)\n"
"      --string-max N    record at most N bytes of a string: 16 to 2000 (default\n"
"                        256)\n"
"      --subbuf-size N   size of a sub-buffer in bytes, k, M or G may follow\n"
"      --num-subbuf N    sub-buffers for each CPU\n"
"      --libcalls[=LIST] calls from one executable or library into another: of all\n"
"                        functions that one offers and another one imports, or of\n"
"                        those of LIST: libz.so.1:*,libc.so.6:open*\n"
"      --buffers WHOSE   uid: one set of buffers for a user's processes (default), pid:\n"
"                        one for each process, so a trace for each\n"
"      --memory[=python] record what the program allocates and gives back: memory,\n"
"                        descriptors, threads; without -o print at its end what was\n"
"                        not given back; with --backtrace also who called; python:\n"
"                        Python's own allocator, too\n"
"      --process-events  print what becomes of the processes, or record it with -o:\n"
"                        created, executed, ended, and by which status or signal;\n"
"                        signals that they get, libraries that come and go\n"
"      --payload FILE    run the payloads of FILE, or one of print, count, gprof and\n"
"                        hist[=ARG], at the calls; nothing is recorded unless\n"
"                        -o is given; several are possible; without -f and\n"
"                        --tree below main(), gprof at all functions of the\n"
"                        executable\n"
"      --payload-arg NAME=VALUE  an argument of the payloads\n"
"      --prototypes FILE types for functions without debug info, in C syntax, beside\n"
"                        those of libc, libm and libz that come along: lttng-spi(1)\n"
"  -l, --list            print what can be traced in BINARY, or in each object\n"
"                        that process PID has loaded\n"
"  -v, --verbose         name every function that is not instrumented\n"
"  -q, --quiet           no messages\n"
"  -h, --help            this help\n"
"\n";

static const char trace_help_end[] =
"\n"
"Exit status: COMMAND's own; 127 and 126 when COMMAND is missing or not\n"
"executable, 1 when it cannot be traced, 2 for a wrong command line.\n"
"See lttng-trace(1).\n";

int trace_options_help(void)
{
	fputs(trace_help, stdout);
	tree_print_help();
	fputs(trace_help_end, stdout);
	return fflush(stdout) || ferror(stdout) ? TRACE_STATUS_ERROR : 0;
}

int options_list(const struct option *options)
{
	for (; options->name; options++) {
		printf("--%s\n", options->name);
		if (options->val > ' ' && options->val < 0x7f)
			printf("-%c\n", options->val);
	}
	return fflush(stdout) || ferror(stdout) ? TRACE_STATUS_ERROR : 0;
}

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

static int option_func(struct trace_options *o, const char *text)
{
	const char **funcs = realloc(o->funcs, (o->func_count + 1) * sizeof(*funcs));

	if (!funcs)
		return -ENOMEM;
	o->funcs = funcs;
	o->funcs[o->func_count++] = text;
	return 0;
}

static int option_prototypes(struct trace_options *o, const char *path)
{
	const char **list = realloc(o->prototypes, (o->prototype_count + 1) * sizeof(*list));

	if (!*path)
		return option_bad("--prototypes", path, "a file");
	if (!list)
		return -ENOMEM;
	o->prototypes = list;
	o->prototypes[o->prototype_count++] = path;
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
		ret = option_func(o, func);
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
		return option_func(o, name_written(value));
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
		return option_prototypes(o, value);
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
			ret = option_func(o, func);
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
	ret = option_func(o, "*");
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
	action = payload_defaults(o);
	if (action == 0)
		action = options_check(o);
	view_choose(o);
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
