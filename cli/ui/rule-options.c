/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The options of the three commands that know --spi. Their letters are those of the real lttng. Options
 * that the real lttng's own forms know besides are refused by name, so that nobody believes that, say,
 * --exclude was heeded.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/say.h"
#include "cli/ui/rule-options.h"
#include "cli/ui/trace-options.h"
#include "cli/ui/typed.h"

enum rule_option {
	OPTION_SPI = 256,
	OPTION_FILTER,
	OPTION_LIST_OPTIONS,
};

struct rule_command {
	const char *name;
	enum rule_action action;
	const char *letters;
	const struct option *options;	/* without those of rules, unless it has no rules */
	int has_rules;
	const char *help;
	int has_tree_help;
};

#define SEE_ALSO "\nSee lttng-spi-rules(1).\n"

static const struct option enable_options[] = {
	{ "spi", no_argument, NULL, OPTION_SPI },
	{ "function", required_argument, NULL, 'f' },
	{ "session", required_argument, NULL, 's' },
	{ "channel", required_argument, NULL, 'c' },
	{ "filter", required_argument, NULL, OPTION_FILTER },
	{ "pid", required_argument, NULL, 'p' },
	{ "help", no_argument, NULL, 'h' },
	{ "list-options", no_argument, NULL, OPTION_LIST_OPTIONS },
	{ NULL, 0, NULL, 0 },
};

static const struct option disable_options[] = {
	{ "spi", no_argument, NULL, OPTION_SPI },
	{ "function", required_argument, NULL, 'f' },
	{ "all", no_argument, NULL, 'a' },
	{ "session", required_argument, NULL, 's' },
	{ "channel", required_argument, NULL, 'c' },
	{ "pid", required_argument, NULL, 'p' },
	{ "help", no_argument, NULL, 'h' },
	{ "list-options", no_argument, NULL, OPTION_LIST_OPTIONS },
	{ NULL, 0, NULL, 0 },
};

static const struct option list_options[] = {
	{ "spi", no_argument, NULL, OPTION_SPI },
	{ "pid", required_argument, NULL, 'p' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "list-options", no_argument, NULL, OPTION_LIST_OPTIONS },
	{ NULL, 0, NULL, 0 },
};

static const char enable_help[] =
"Usage: lttng [GENERAL OPTIONS] enable-event --spi (-f FUNC | --tree[=ROOT])... [-s SESSION]\n"
"             [-c CHANNEL] [--filter EXPR] [--one-event | --backtrace[=N]] [--pid PID]...\n"
"             [--exec NAME]...\n"
"\n"
"Record the calls of functions of unmodified programs, running and future ones.\n"
"\n"
"  -f, --function FUNC    a function, a glob such as 'parse_*', a qualified C++ name,\n"
"                         or one of these in one executable or library: libz.so.1:deflate\n"
"  -s, --session SESSION  not the current session\n"
"  -c, --channel CHANNEL  not the default channel\n"
"      --filter EXPR      record only calls for which EXPR is true\n"
"      --one-event        one event a call, at its end, with its duration\n"
"      --backtrace[=N]    who calls: the call stack in each entry, N frames at most (16)\n"
"      --libcalls         only calls from other executables and libraries, of functions\n"
"                         that the library offers to others\n"
"      --pid PID          in this process only; it needs not be linked with liblttng-ust\n"
"      --exec NAME        in processes, running and future ones, of programs with this\n"
"                         name (a glob) only: their file's, the one that they were\n"
"                         started by, what ps shows\n"
"  -h, --help             this help\n"
"\n";

static const char disable_help[] =
"Usage: lttng [GENERAL OPTIONS] disable-event --spi ((-f FUNC | --tree[=ROOT])... | --all)\n"
"             [-s SESSION] [-c CHANNEL] [--one-event | --backtrace[=N]] [--pid PID]...\n"
"             [--exec NAME]...\n"
"\n"
"Take the instrumentation of functions out again. The options are those that the\n"
"rule was made with; without --one-event both forms are meant, and without options\n"
"of its own (--depth ...) a --tree whatever options it has.\n"
"\n"
"  -f, --function FUNC    as it was given to enable-event --spi\n"
"  -a, --all              every rule of the provider spi\n"
"  -s, --session SESSION  not the current session\n"
"  -c, --channel CHANNEL  in this channel only\n"
"      --tree[=ROOT]      the call tree that was given to enable-event --spi\n"
"      --one-event        the rule with one event a call only\n"
"      --backtrace[=N]    the rule with such backtraces only\n"
"      --pid PID, --exec NAME  the rule with this scope\n"
"  -h, --help             this help\n";

static const char list_help[] =
"Usage: lttng [--mi xml] list --spi [--pid PID] [--verbose]\n"
"\n"
"Show what is instrumented: the rules, and for each process which of them are in\n"
"force, what is not instrumented and why, and how many events were lost.\n"
"\n"
"      --pid PID          this process only\n"
"  -v, --verbose          name every function that is not instrumented\n"
"  -h, --help             this help\n";

static const struct rule_command rule_commands[] = {
	{ "enable-event", RULE_ACTION_ENABLE, ":f:s:c:p:h", enable_options, 1, enable_help, 1 },
	{ "disable-event", RULE_ACTION_DISABLE, ":f:as:c:p:h", disable_options, 1, disable_help, 0 },
	{ "list", RULE_ACTION_LIST, ":p:vh", list_options, 0, list_help, 0 },
};

static const struct rule_command *rule_command_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(rule_commands) / sizeof(rule_commands[0]); i++)
		if (!strcmp(rule_commands[i].name, name))
			return &rule_commands[i];
	return NULL;
}

static int usage(const struct rule_options *o, const char *object, const char *problem)
{
	say_error("%s --spi: %s%s%s: see lttng %s --spi --help", o->command, object ? object : "", object ? ": " : "",
		problem, o->command);
	return -EINVAL;
}

static int option_func(struct rule_options *o, const char *text)
{
	return *text ? typed_add(&o->funcs, &o->func_count, text) : usage(o, NULL, "-f needs the name of a function");
}

/* A word that may be given once and must not be empty. */
static int option_word(const struct rule_options *o, const char *name, const char **place, const char *text)
{
	if (*place)
		return usage(o, name, "given twice");
	if (!*text)
		return usage(o, name, "its value is empty");
	*place = text;
	return 0;
}

static int option_take(struct rule_options *o, int c, const char *value)
{
	switch (c) {
	case 'f':
		return option_func(o, name_written(value));
	case 's':
		return option_word(o, "--session", &o->session, value);
	case 'c':
		return option_word(o, "--channel", &o->channel, value);
	case 'p':
		return tree_take_named(&o->tree, &o->asked, "pid", value);
	case 'a':
		o->all = 1;
		return 0;
	case 'v':
		say_verbose = 1;
		return 0;
	case OPTION_FILTER:
		return option_word(o, "--filter", &o->filter, value);
	case OPTION_SPI:
		return 0;
	}
	return tree_take(&o->tree, &o->asked, c, value ? name_written(value) : NULL);
}

/* What must and must not stand together. */
static int options_check(const struct rule_options *o, const struct rule_command *command)
{
	char problem[300];

	if (o->machine_output && strcasecmp(o->machine_output, "xml"))
		return usage(o, o->machine_output, "--mi knows xml only");
	if (command->action == RULE_ACTION_LIST)
		return o->asked.nr_pids > 1 ? usage(o, "--pid", "given twice") : 0;
	if (tree_check(&o->tree, &o->asked, problem) < 0)
		return usage(o, NULL, problem);
	if (o->all && (o->func_count || o->asked.nr_pids || o->asked.exec.count || o->asked.one_event ||
	    o->asked.backtrace || o->tree.count))
		return usage(o, NULL, "--all goes with -s and -c only");
	if (!o->all && !o->func_count && !o->tree.count)
		return usage(o, NULL, command->action == RULE_ACTION_DISABLE ?
			"which function? -f FUNC or --all is missing, or --tree" :
			"which function? -f FUNC is missing, or --tree");
	if (o->asked.one_event && !o->func_count)
		return usage(o, NULL, "--one-event goes with -f FUNC: a tree has entries and exits");
	if (o->asked.backtrace && !o->func_count)
		return usage(o, NULL, "--backtrace goes with -f FUNC: a tree's entries tell who calls by themselves");
	return 0;
}

static int help_print(const struct rule_command *command)
{
	fputs(command->help, stdout);
	if (command->has_tree_help)
		tree_print_help();
	fputs(SEE_ALSO, stdout);
	return fflush(stdout) || ferror(stdout) ? TRACE_STATUS_ERROR : 0;
}

enum rule_action rule_options_parse(struct rule_options *o, int argc, char **argv, int *status)
{
	const struct rule_command *command = rule_command_find(argv[0]);
	const struct option *options = command->has_rules ? tree_long_options(command->options) : command->options;
	int c;

	o->command = command->name;
	*status = TRACE_STATUS_USAGE;
	optind = 0;	/* glibc: start afresh */
	opterr = 0;
	while ((c = getopt_long(argc, argv, command->letters, options, NULL)) != -1) {
		if (c == 'h') {
			*status = help_print(command);
			return RULE_ACTION_NONE;
		}
		if (c == OPTION_LIST_OPTIONS) {
			*status = options_list(options);
			return RULE_ACTION_NONE;
		}
		if (c == ':' || c == '?') {
			usage(o, argv[optind - 1], c == ':' ? "its value is missing" : "unknown option");
			return RULE_ACTION_NONE;
		}
		if (option_take(o, c, optarg) < 0)
			return RULE_ACTION_NONE;
	}
	if (optind < argc) {
		usage(o, argv[optind], command->action == RULE_ACTION_LIST ? "unexpected word" :
			"unexpected word: functions are named with -f");
		return RULE_ACTION_NONE;
	}
	return options_check(o, command) < 0 ? RULE_ACTION_NONE : command->action;
}

void rule_options_free(struct rule_options *o)
{
	free(o->funcs);
	o->funcs = NULL;
	tree_free(&o->tree);
}
