/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The things `lttng trace` does. Each returns the exit status, after everything it made was taken away again. */
#ifndef SPI_CLI_TRACE_H
#define SPI_CLI_TRACE_H

struct trace_options;

int trace_list(const struct trace_options *options);	/* list.c */
int trace_command(const struct trace_options *options);	/* trace-command.c */
int trace_process(struct trace_options *options);	/* trace-process.c */
int trace_exec(const struct trace_options *options);	/* trace-exec.c */

#endif /* SPI_CLI_TRACE_H */
