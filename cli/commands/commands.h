/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The commands of the front end: `lttng trace` in its four forms, and three commands with --spi. */
#ifndef SPI_CLI_COMMANDS_H
#define SPI_CLI_COMMANDS_H

struct rule_options;
struct trace_options;

/* `lttng trace`. Each returns the exit status, after everything that the command made was taken away again. */
int trace_run(int argc, char **argv, struct trace_options *options);	/* trace.c: one of these: */
int trace_list(const struct trace_options *options);	/* trace-list.c */
int trace_command(struct trace_options *options);	/* trace-command.c */
int trace_process(struct trace_options *options);	/* trace-process.c */
int trace_exec(const struct trace_options *options);	/* trace-exec.c */
int trace_found(const struct trace_options *options);	/* trace-found.c: --exec with --payload */

/* The three commands that know --spi. Each returns the exit status. */
int rules_enable(const struct rule_options *options);	/* enable-event.c */
int rules_disable(const struct rule_options *options);	/* disable-event.c */
int rules_list(const struct rule_options *options);	/* list.c */

#endif /* SPI_CLI_COMMANDS_H */
