/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What `lttng trace --help` and --list-options print. */
#include <getopt.h>
#include <stdio.h>

#include "cli/ui/trace-options.h"

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
