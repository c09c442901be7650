/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What all commands have in common: directories, filters, the reading itself, and how they end. */
#ifndef SPI_READER_READING_H
#define SPI_READER_READING_H

#include <getopt.h>
#include "reader/flow/flow.h"
#include "reader/views/views.h"

#define FILTERS_MOST	64

struct reading {
	const char *command;
	const char *directories[FILTERS_MOST + 1];
	int directory_count;
	/* filters, as they were given; NULL ends each list */
	const char *functions[FILTERS_MOST + 1], *callers[FILTERS_MOST + 1], *objects[FILTERS_MOST + 1];
	const char *threads[FILTERS_MOST + 1], *processes[FILTERS_MOST + 1];
	const char *from, *to;
	int64_t longer;
	uint32_t depth;
	int only_errors;
	/* where objects' files are */
	const char *root;
	const char *debug_directories[FILTERS_MOST + 1];
	int has_lines;			/* --lines, or the view needs them */
	int has_events;			/* of the view: what is no call is given, too */
	/* of the command */
	enum format format;
	uint32_t formats;		/* bits: which the command has */
	const char *output;		/* --output; NULL: stdout */
	FILE *out;
	int (*idle)(void *data);		/* nothing comes for a while: 0, or a negative errno; NULL: nothing to do */
	void *idle_data;

	struct calls calls;
	/* Each message before the calls get it: 0, or a negative errno; NULL: nobody looks. */
	int (*see)(void *seer, const bt_message *message);
	void *seer;
	int is_without_calls;		/* the view is of other events: that there is no call is not said */
	int is_damaged, is_stopped;	/* said already */
};

/* An option of the command's own: 1: taken, 0: not its, -1: it was said what is wrong. */
typedef int option_taker(struct reading *reading, int option, const char *value);

/*
 * The command line, from the command's name on: options of all commands, those of its own (ended by a zero entry), and
 * directories. At most `positional` further words go to words[]. 0, or the status to exit with.
 */
int reading_options(struct reading *reading, int argc, char **argv, const struct option *own, option_taker *take);

/* A command's usage and what it does, then the filters: 0, the status to exit with. */
int reading_help(const char *usage);
/* r->out for r->output: 0, or -1: it was said what is wrong. */
int reading_output_open(struct reading *reading);
/* What is read: the directories, as they were given. */
void reading_title(const struct reading *reading, char *text, size_t size);
/* A session is read while it is recorded: net://HOST:PORT/host/HOSTNAME/SESSION, as babeltrace2 names it. */
int reading_is_live(const struct reading *reading);

/* Messages between processes go to the taker, in order of their receipt, up to flow_end(). */
void reading_flow(struct reading *reading, struct flow *flow, int (*take)(void *data, const struct flow_message *message),
	void *data);
/* All calls of the traces: 0, or the status to exit with. What was missing is said. */
int reading_run(struct reading *reading, int (*take)(void *data, const struct call *call), void *data);
/* Ends the output: the status to exit with. r: what writing gave, 0 or a negative errno. */
int reading_end(struct reading *reading, int r);

/* ---- the commands: a status to exit with ---- */
int command_calls(int argc, char **argv);
int command_report(int argc, char **argv);
int command_graph(int argc, char **argv);
int command_flame(int argc, char **argv);
int command_timeline(int argc, char **argv);
int command_top(int argc, char **argv);
int command_export(int argc, char **argv);
int command_info(int argc, char **argv);
int command_prototypes(int argc, char **argv);
int command_leaks(int argc, char **argv);
int command_flow(int argc, char **argv);

#endif /* SPI_READER_READING_H */
