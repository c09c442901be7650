/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Times, numbers and names as all views write them; the terminal; what is said on stderr. */
#ifndef SPI_READER_TEXT_H
#define SPI_READER_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* HH:MM:SS.uuuuuu of the local time zone, as babeltrace2 has it; ns from origin. At least 32 bytes. */
void time_text(int64_t ns, char *text);
/*
 * HH:MM[:SS[.fraction]], YYYY-MM-DD[ T]HH:MM..., SECONDS[.fraction] from origin: 0 or -1. A time alone is of the day
 * of `near`.
 */
int time_read(const char *text, int64_t near, int64_t *ns);
/* 0.92 us, 12.34 ms, 1.234 s. At least 32 bytes. */
void duration_text(int64_t ns, char *text);
/* 10us, 1.5ms, 2s, 300 (ns): 0 or -1 */
int duration_read(const char *text, int64_t *ns);

/* Of what was written just before: 0, or a negative errno; -EPIPE: whoever reads has gone. */
int output_status(FILE *out);
/* A string of JSON, quotes included; bytes that are no UTF-8 become U+FFFD. */
void json_string(FILE *out, const char *text);
/*
 * What a terminal would obey becomes '?', or a byte that is no character: control characters, and those of C1 in UTF-8.
 * Names come from files that anybody made.
 */
void text_clean(char *text);
/* The last part of a path; the path itself where that is empty. */
const char *last_part(const char *path);
/* A field of CSV, quoted where it has to be. */
void csv_field(FILE *out, const char *text);

/* ---- the terminal ---- */

struct terminal {
	int is_one;			/* stdout is a terminal */
	int has_colour;			/* and takes colours: not with NO_COLOR or TERM=dumb */
	unsigned int width;		/* columns; 0: as wide as it needs */
};
extern struct terminal terminal;

enum colour { COLOUR_NONE, COLOUR_DIM, COLOUR_FUNCTION, COLOUR_VALUE, COLOUR_SLOW, COLOUR_ERROR, COLOUR_HEAD };

void terminal_find(void);
/* The sequences that begin and end a colour, "" where there are none. */
const char *colour_begin(enum colour colour);
const char *colour_end(enum colour colour);
/*
 * From here on stdout goes through $LTTNG_SPI_PAGER, $PAGER or less, when it is a terminal. pager_end() waits for
 * that.
 */
void pager_begin(void);
void pager_end(void);

/* ---- stderr ---- */

void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* How far a long reading is, on a terminal only; nothing in the first second. progress_end() removes the line. */
void progress(double share);
void progress_end(void);

#endif /* SPI_READER_TEXT_H */
