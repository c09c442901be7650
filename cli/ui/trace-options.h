/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The command line of `lttng trace`. */
#ifndef SPI_CLI_UI_TRACE_OPTIONS_H
#define SPI_CLI_UI_TRACE_OPTIONS_H

#include <stdint.h>
#include <sys/types.h>

#include "cli/ui/tree-options.h"
#include "rules/event-name.h"

/* Exit statuses of our own; COMMAND's passes through unchanged. lttng(1) uses 1 and 2 for the same. */
#define TRACE_STATUS_ERROR	1	/* it could not be done */
#define TRACE_STATUS_USAGE	2	/* the command line makes no sense */
#define TRACE_STATUS_NO_EXEC	126	/* COMMAND cannot be executed */
#define TRACE_STATUS_NO_FILE	127	/* COMMAND does not exist */

enum trace_action {
	TRACE_ACTION_NONE = 0,	/* nothing left to do: help was printed, or an error said */
	TRACE_ACTION_LIST,
	TRACE_ACTION_COMMAND,
	TRACE_ACTION_PROCESS,
	TRACE_ACTION_EXEC,
};

/* What is printed. */
enum trace_view {
	VIEW_DEFAULT,		/* calls on a terminal, else events */
	VIEW_EVENTS,		/* as babeltrace2 prints them */
	VIEW_CALLS,		/* as people read them */
	VIEW_JSON,		/* calls, an object a line */
	VIEW_REPORT,		/* the table of functions, at the end */
	VIEW_LEAKS,		/* what was not given back, at the end */
};

/* Whose rings an LTTng session has: one set for each user, or for each process. */
enum trace_buffers {
	BUFFERS_DEFAULT,	/* a user's; a process's with --memory */
	BUFFERS_UID,
	BUFFERS_PID,
};

/* --memory: which allocators. */
enum trace_memory {
	MEMORY_NO,
	MEMORY_OF_LIBC,		/* malloc() and its like, by whatever library */
	MEMORY_OF_PYTHON,	/* Python's as well */
};

/* All strings point into argv; only the arrays `funcs`, `pids`, `prototypes` and tree.roots are allocated. */
struct trace_options {
	/* general options of lttng */
	const char *group;
	const char *sessiond_path;
	const char *relayd_path;
	const char *machine_output;
	int no_sessiond;
	int verbose;
	int quiet;
	/* options of trace */
	const char **funcs;
	unsigned int func_count;
	unsigned int libcalls;	/* so many of them are of --libcalls */
	struct tree_request tree;
	struct spi_rule asked;		/* all options of rules but the processes, and no target */
	pid_t *pids;			/* each once */
	unsigned int pid_count;
	const char *exec;		/* the first of asked.exec that was given, or NULL */
	const char **prototypes;	/* files */
	unsigned int prototype_count;
	int named;			/* by a NAME, some of them */
	int64_t duration;		/* ms; -1: no limit */
	const char *output;
	enum trace_view view;		/* parsed: not VIEW_DEFAULT */
	enum trace_memory memory;
	int process;			/* --process-events, */
	struct spi_rule process_asked;	/* and what is asked for that */
	enum trace_buffers buffers;
	int list;
	uint32_t string_max;		/* bytes; 0: the agent's default */
	uint64_t subbuf_size;		/* bytes; 0: ours to choose */
	uint64_t subbuf_count;		/* 0: ours to choose */
	char **command;			/* COMMAND and its arguments, or -l's BINARY; NULL-terminated */
	int command_count;
};
#define TRACE_OPTIONS_INIT { .duration = -1 }

/*
 * trace_options_parse() - argv[0] is "trace". Returns what to do; for
 * TRACE_ACTION_NONE, *status is the exit status.
 */
enum trace_action trace_options_parse(struct trace_options *o, int argc, char **argv, int *status);
/* trace_options_check() - of all of them, as parsed: what to do, or a negative errno after one line was said. */
int trace_options_check(struct trace_options *o);
/* trace_options_help() - what --help prints. Returns the exit status. */
int trace_options_help(void);
/* options_list() - what --list-options prints, as the real lttng's commands do. Returns the exit status. */
struct option;
int options_list(const struct option *options);
void trace_options_free(struct trace_options *o);

#endif /* SPI_CLI_UI_TRACE_OPTIONS_H */
