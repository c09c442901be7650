/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* `lttng trace --memory`: the payload `memory` at all functions that it knows. */
#ifndef SPI_CLI_UI_MEMORY_OPTIONS_H
#define SPI_CLI_UI_MEMORY_OPTIONS_H

struct trace_options;

/*
 * memory_take() - the value of --memory: NULL, or whose allocator beside malloc(). memory_ask() - as if the payload and
 * each of its functions had been asked for. 0; -ENOMEM; or -EINVAL after one line was said.
 */
int memory_take(struct trace_options *o, const char *value);
int memory_ask(struct trace_options *o);

#endif /* SPI_CLI_UI_MEMORY_OPTIONS_H */
