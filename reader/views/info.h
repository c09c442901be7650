/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What was recorded: the facts of a trace (reader/calls/facts.h), with how many calls belong to each. */
#ifndef SPI_READER_INFO_H
#define SPI_READER_INFO_H

#include "reader/calls/facts.h"
#include "reader/views/views.h"

/* A function that was asked for and not instrumented: DIR/not-instrumented.txt. */
struct declined {
	char *function, *reason;
};

struct info {
	const struct calls *calls;
	const struct facts *facts;
	uint64_t *of_function, *of_process, *of_thread;		/* calls, by number */
	uint32_t function_room, process_room, thread_room;
	struct declined *declined;
	size_t declined_count, declined_room;
};

int info_take(void *info, const struct call *call);
/* The lines of a file not-instrumented.txt, if there is one: 0 or -ENOMEM. */
int info_declined_read(struct info *info, const char *path);
int info_write(struct info *info, enum format format, FILE *out);
void info_free(struct info *info);

/* ---- of info.c, for what writes ---- */
uint64_t info_function_calls(const struct info *info, uint32_t number);
uint64_t info_process_calls(const struct info *info, const struct call_process *process);
uint32_t info_process_threads(const struct info *info, const struct call_process *process);
/* Each object once, however often it was loaded. after: NULL: the first one. */
const struct fact_object *info_object_next(const struct info *info, const struct fact_object *after);
uint64_t info_object_calls(const struct info *info, const char *path);
/* Is the object's file here, of the trace's build? */
const char *info_file_text(const struct info *info, const struct fact_object *object);
/* ---- info-json.c ---- */
void info_json(const struct info *info, FILE *out);

#endif /* SPI_READER_INFO_H */
