/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Pages for a browser: one file each, which needs no network. What a trace says is in them as compressed bytes in
 * base64, so no text of a trace is ever HTML.
 */
#ifndef SPI_READER_PAGES_H
#define SPI_READER_PAGES_H

#include <stdio.h>
#include "reader/views/leaks.h"
#include "reader/views/views.h"

/* ---- template.c: the pages as the build assembles them; a page that could not be assembled is empty ---- */
enum page_kind { PAGE_TIMELINE, PAGE_FLAME, PAGES };
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

/* ---- timeline.c: threads over time ---- */
/* size: of the page in bytes, about; what does not fit is merged. */
struct timeline *timeline_make(size_t size);
int timeline_take(void *timeline, const struct call *call);
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

#endif /* SPI_READER_PAGES_H */
