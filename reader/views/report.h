/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What report.c counts and report-write.c writes. */
#ifndef SPI_READER_REPORT_H
#define SPI_READER_REPORT_H

#include "reader/base/times.h"
#include "reader/views/views.h"

struct row {
	struct spi_hash_link link;
	const struct call_function *function, *caller;
	const struct call_thread *thread;
	const struct call_process *process;
	const char *object;
	uint32_t number;
	uint64_t calls;
	int64_t total, self;		/* ns; total: of outermost calls */
	struct times times;		/* of all calls */
};

/* Whole calls of a thread and row that count to the total until one that lies around them comes, by their beginning. */
struct counted {
	struct counted_call {
		int64_t begin, duration;
	} *calls;
	size_t count, room;
};

/* Of a thread by row, so that the outermost call is known. */
struct thread_rows {
	uint32_t *open;			/* calls that are open */
	struct counted *counted;
	uint32_t room, counted_room;
};

struct report {
	enum report_by by;
	struct row **rows;
	uint32_t count, room;
	struct row **of_function;	/* BY_FUNCTION: by its number */
	uint32_t function_room;
	struct spi_hash table;
	struct spi_hash_link *buckets[16384];
	struct thread_rows *threads;	/* by number */
	uint32_t thread_room;
	uint64_t lost, missing, no_exit, open;
	int has_lines;
};

/* ---- report-write.c ---- */
void row_name(const struct row *row, enum report_by by, char *text, size_t size);
const char *row_object(const struct row *row);
const char *report_by_name(enum report_by by);
/* ---- report-diff.c ---- */
int report_diff_write(struct report *report, struct report *before, enum report_sort sort, uint32_t limit,
	enum format format, FILE *out);

#endif /* SPI_READER_REPORT_H */
