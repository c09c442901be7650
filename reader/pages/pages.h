/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Pages for a browser: one file each, which needs no network. What a trace says is in them as compressed bytes in
 * base64, so no text of a trace is ever HTML.
 */
#ifndef SPI_READER_PAGES_H
#define SPI_READER_PAGES_H

#include <stdio.h>
#include "reader/flow/flow.h"
#include "reader/leaks/leaks.h"
#include "reader/views/views.h"

/* ---- template.c: the pages as the build assembles them; a page that could not be assembled is empty ---- */
enum page_kind { PAGE_TIMELINE, PAGE_FLAME, PAGE_FLOW, PAGES };
int page_is_built(enum page_kind kind);
/* The page up to where its data belongs, and from there on: 0 or -EPIPE. */
int page_begin(enum page_kind kind, FILE *out);
int page_end(enum page_kind kind, FILE *out);

/* ---- pack.c ---- */
/*
 * A stream: what is written to it goes to `out`, as gzip has it and in base64. Closing it ends the data, not `out`.
 * NULL: no memory.
 */
FILE *pack_open(FILE *out);
void base64_write(FILE *out, const uint8_t *data, size_t size);

/* ---- page.c: 0, -EPIPE, -ENOMEM, or what the writer gave ---- */
typedef int page_writer(void *data, FILE *out);
/* An element with packed data; head: its attributes. */
int page_part(const char *head, page_writer *write, void *data, FILE *page);
/* Members of a JSON object, behind others: "date", and "clock", the time of day in ns, of where the page's times begin. */
void page_date_write(int64_t origin, FILE *out);
/* A page with one such element. */
int page_write(enum page_kind kind, const char *head, page_writer *write, void *data, FILE *page);
/* The page of flame graphs, in speedscope's format. title: what was read, as the user named it. */
int page_graphs_write(const char *title, uint64_t calls, page_writer *frames, page_writer *profiles, void *data,
	FILE *page);

/* ---- timeline.c: threads over time ---- */
/* size: of the page in bytes, about; what does not fit is merged. */
struct timeline *timeline_make(size_t size);
int timeline_take(void *timeline, const struct call *call);
int timeline_message(void *timeline, const struct flow_message *message);
/* title: what was read, as the user named it. 0, -EPIPE, -ENOMEM. */
int timeline_write(struct timeline *timeline, const struct calls *calls, const char *title, FILE *out);
void timeline_free(struct timeline *timeline);

/* ---- flame.c: flame graphs, and flame charts, as speedscope shows them ---- */
struct flame *flame_make(void);
int flame_take(void *flame, const struct call *call);
int flame_write(struct flame *flame, const struct calls *calls, const char *title, FILE *out);
void flame_free(struct flame *flame);

/* ---- leaks-flame.c: the same page with live bytes; title as above ---- */
int leaks_page_write(struct leaks *leaks, const char *title, FILE *out);

/* ---- flow.c: messages between processes over time ---- */
struct flow_page *flow_page_make(void);
int flow_page_take(void *page, const struct flow_message *message);
int flow_page_write(struct flow_page *page, struct flow *flow, const char *title, FILE *out);
void flow_page_free(struct flow_page *page);	/* NULL: nothing */

#endif /* SPI_READER_PAGES_H */
