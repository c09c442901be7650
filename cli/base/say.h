/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the front end tells its user: always on stderr, one line a call, written
 * with one write() so that it is never mixed with a line of COMMAND or of the
 * viewer. The prefixes are those of the real lttng.
 */
#ifndef SPI_CLI_BASE_SAY_H
#define SPI_CLI_BASE_SAY_H

extern int say_quiet;	/* -q: say nothing at all, as the real lttng */
extern int say_verbose;	/* -v: details too */

void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Information that belongs to every run: where the trace is, the summary. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What the user has asked for, also with --quiet. */
void say_plain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Only with --verbose. */
void say_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* SPI_CLI_BASE_SAY_H */
