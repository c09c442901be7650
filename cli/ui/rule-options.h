/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The command lines of `lttng enable-event --spi`, `lttng disable-event --spi` and `lttng list --spi`. */
#ifndef SPI_CLI_UI_RULE_OPTIONS_H
#define SPI_CLI_UI_RULE_OPTIONS_H

#include <sys/types.h>

#include "cli/ui/tree-options.h"
#include "rules/event-name.h"

enum rule_action {
	RULE_ACTION_NONE = 0,	/* nothing left to do: help was printed, or an error said */
	RULE_ACTION_ENABLE,
	RULE_ACTION_DISABLE,
	RULE_ACTION_LIST,
};

/* All strings point into argv; only the arrays `funcs` and tree.roots are allocated. */
struct rule_options {
	const char *command;		/* enable-event, ... */
	const char *machine_output;	/* general option --mi */
	const char **funcs;
	unsigned int func_count;
	struct tree_request tree;
	const char *session, *channel, *filter;	/* NULL: not given */
	int one_event;
	int all;
	unsigned int nr_pids;
	pid_t pids[SPI_EVENT_SCOPE_MAX];
	unsigned int nr_execs;
	const char *execs[SPI_EVENT_SCOPE_MAX];
};


/* rule_options_parse() - returns what to do; for RULE_ACTION_NONE, *status is the exit status. */
enum rule_action rule_options_parse(struct rule_options *o, int argc, char **argv, int *status);
void rule_options_free(struct rule_options *o);

#endif /* SPI_CLI_UI_RULE_OPTIONS_H */
