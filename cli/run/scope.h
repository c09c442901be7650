/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A session whose rules are requests with a scope, for the session daemon's
 * plugin to carry out: what `lttng trace` makes of it, and what it tells of it.
 */
#ifndef SPI_CLI_RUN_SCOPE_H
#define SPI_CLI_RUN_SCOPE_H

#include "cli/rules/rules.h"
#include "cli/rules/status.h"
#include "cli/ui/rule-options.h"

struct report;
struct run;
struct trace_options;

struct scope {
	struct rule_options options;	/* what the rules are made of */
	const char *exec;		/* the first program that was named, or NULL */
	struct spi_event_recipe (*recipes)[RULES_RECIPES_MAX];	/* one row for each FUNC and tree */
	int *counts;
	const char **titles;		/* as the user calls them */
	unsigned int rows;
	struct status before;		/* what the plugin said at the beginning */
};

/* scope_prepare() - all FUNCs and trees in words, for the --exec and -p of `o`. 0, or an exit status after one line was said. */
int scope_prepare(struct scope *scope, const struct trace_options *o);
void scope_free(struct scope *scope);

/* scope_enable() - for run->enable, with the scope as run->data: what records before what instruments. */
int scope_enable(struct run *run);

/* scope_wait_plugin() - have a session daemon and its plugin, which `option` needs. 0, or an exit status after one line was said. */
int scope_wait_plugin(struct run *run, const char *option);

/*
 * A program that this run starts comes under the rules by their numbers: no process that runs already is meant by them.
 * scope_launched() makes that so, before scope_prepare(). scope_follow() waits until the plugin has the rules, and writes their numbers
 * and the socket that the program's agent connects to. 0, or an exit status after one line was said.
 */
int scope_launched(struct trace_options *o);
int scope_follow(struct scope *scope, struct run *run, char *numbers, size_t size, char *socket, size_t socket_size);
/* The program has begun: it is what the report is about. */
void scope_began(struct scope *scope, pid_t pid);

/* scope_driven() - how many of these processes the plugin has an agent in; 0 as well when there is no plugin. */
unsigned int scope_driven(const pid_t *pids, unsigned int count);

/* scope_status() - what the plugin says, without a word where it cannot be had. 0 or -1. */
int scope_status(struct status *status);
/* scope_is_known() - has the plugin all our rules of this session? It has looked for processes then. */
int scope_is_known(const struct scope *scope, const struct status *status, const char *session);

/*
 * scope_unsettled() - of how many processes that are meant it is not known yet whether they are recorded; 1 as well while the
 * plugin has not looked for them since the session has its rules. `soon`: one that is refused and will be tried again counts, too.
 */
unsigned int scope_unsettled(const struct scope *scope, const char *session, int soon);


/*
 * scope_end() - what the plugin says of the processes that our rules are in force in; then the rules go, with the session
 * still recording: packed records that threads hold back, and exits of calls under way, are written by then.
 */
void scope_end(const struct scope *scope, struct run *run);

#endif /* SPI_CLI_RUN_SCOPE_H */
