/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* `lttng-spi`: what a trace says, for people. */
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "config.h"
#include "reader/base/text.h"
#include "reader/commands/reading.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{ "calls", command_calls, "the calls, as people read them" },
	{ "report", command_report, "a table of functions: calls and times" },
	{ "graph", command_graph, "which function calls which" },
	{ "flame", command_flame, "a page for a browser: flame graphs" },
	{ "timeline", command_timeline, "a page for a browser: threads over time" },
	{ "top", command_top, "where a running process spends its time, live" },
	{ "info", command_info, "what was recorded, and what is missing" },
	{ "prototypes", command_prototypes, "check files of prototypes for functions without debug info" },
	{ "leaks", command_leaks, "memory that was not given back, and by whom it was allocated" },
	{ "flow", command_flow, "messages between processes: who called whom" },
	{ "export", command_export, "for Perfetto, speedscope, KCachegrind, readers of CTF" },
};

static int help(FILE *out)
{
	fprintf(out, "Usage: lttng-spi COMMAND [OPTIONS] DIR...\n\nViews of a trace that lttng-spi recorded:\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].what);
	fprintf(out, "\n`lttng-spi COMMAND --help` has its options; see also lttng-spi(1).\n");
	return 0;
}

int main(int argc, char **argv)
{
	int fd;

	/* a file that is opened later must not take the place of an output that is closed */
	while ((fd = open("/dev/null", O_RDONLY)) >= 0 && fd <= STDERR_FILENO)
		;
	if (fd >= 0)
		close(fd);
	setlocale(LC_CTYPE, "");
	terminal_find();
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")))
		return help(stdout);
	if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
		puts("lttng-spi " PACKAGE_VERSION);
		return 0;
	}
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	if (argc > 1)
		say_error("%s is no command of lttng-spi: see `lttng-spi --help`", argv[1]);
	else
		help(stderr);
	return 1;
}
