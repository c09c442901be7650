/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* `lttng trace --process-events`: the payload `process` at libc's functions that wait for children. */
#ifndef SPI_CLI_UI_PROCESS_OPTIONS_H
#define SPI_CLI_UI_PROCESS_OPTIONS_H

struct trace_options;

/* process_ask() - what is asked of these functions. 0; -ENOMEM; or -EINVAL after one line was said. */
int process_ask(struct trace_options *o);

#endif /* SPI_CLI_UI_PROCESS_OPTIONS_H */
