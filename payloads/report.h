/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A table for the user. Processes that end at the same time print to one place: a table is written in pieces as large as
 * possible, so that others' lines stay out of it, and begins with the program and the process that it is of.
 */
#ifndef PAYLOADS_REPORT_H
#define PAYLOADS_REPORT_H

#include <unistd.h>
#include <lttng/spi.h>
#include "payloads/text.h"

#define REPORT_SIZE	65536u

struct report {
	struct spi_agent *agent;
	const char *name;		/* the payload's */
	size_t size;
	char text[REPORT_SIZE];
};

static inline void report_end(struct report *r)
{
	if (r->size)
		spi_agent_write(r->agent, r->text, r->size);
	r->size = 0;
}

/* The line, which is empty then. */
static inline void report_line(struct report *r, struct text *t)
{
	text_byte(t, '\n');
	if (r->size + t->size > sizeof(r->text))
		report_end(r);
	__builtin_memcpy(r->text + r->size, t->line, t->size);
	r->size += t->size;
	t->size = 0;
}

static inline void report_begin(struct report *r)
{
	struct text t = { .size = 0 };

	text_put(&t, r->name);
	text_put(&t, " of ");
	text_put(&t, spi_object_name(spi_object_executable()));
	text_put(&t, " (");
	text_number(&t, (uint64_t) getpid(), 0);
	text_put(&t, "):");
	r->size = 0;
	report_line(r, &t);
}

#endif /* PAYLOADS_REPORT_H */
