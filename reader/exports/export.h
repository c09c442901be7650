/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls in the formats of other tools. Times are counted from where the trace begins, as a double holds no ns of today
 * exactly. Each view is made, takes the calls, and ends the file.
 */
#ifndef SPI_READER_EXPORT_H
#define SPI_READER_EXPORT_H

#include "reader/flow/flow.h"
#include "reader/views/views.h"

/* ---- chrome.c: trace-event JSON, of chrome://tracing and Perfetto; written as the calls come ---- */
struct chrome *chrome_make(FILE *out, const struct calls *calls);
int chrome_take(void *chrome, const struct call *call);
int chrome_message(void *chrome, const struct flow_message *message);
int chrome_end(struct chrome *chrome);
void chrome_free(struct chrome *chrome);

/* ---- speedscope.c: speedscope's JSON, a profile a thread; calls wait in a temporary file ---- */
struct speedscope *speedscope_make(FILE *out, const struct calls *calls, const char *name);
int speedscope_take(void *speedscope, const struct call *call);
int speedscope_end(struct speedscope *speedscope);
void speedscope_free(struct speedscope *speedscope);

/* ---- callgrind.c: callgrind's format, of the tree of paths ---- */
int callgrind_write(const struct paths *paths, const struct calls *calls, const char *name, FILE *out);

#endif /* SPI_READER_EXPORT_H */
