/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of run/news.h have for each other. */
#ifndef SPI_CLI_RUN_NEWS_INTERNAL_H
#define SPI_CLI_RUN_NEWS_INTERNAL_H

#include <sys/types.h>

struct news;
struct process_news;

#define WHO_SIZE	160u

struct news_process {
	struct news_process *next;
	pid_t pid, parent;		/* parent 0: not known */
	char name[64];			/* of its program; of a forked child its parent's */
	int is_child_told, is_parent_told;	/* that it was made: by itself, by its parent */
	int is_made_printed;
	int is_executing;		/* that was printed, and the program has not begun yet */
	int is_ended, is_gone;		/* gone: its parent has waited for it */
	int is_in_trace;		/* that it was made: by its parent, or as its program begins */
	int is_vague;			/* it has ended, and does not know its code */
	char *executes, *ends;		/* lines about what the trace does not have so far */
};

/* ---- news-processes.c ---- */

/* A line, from malloc(), with the time of the news. NULL: no memory. */
char *news_line(const struct process_news *n, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * The line goes: printed at once without a trace, kept for the end with one. news_put(): unless the trace has the news.
 */
void news_keep(struct news *news, char *line);
void news_put(struct news *news, const struct process_news *n, char *line);

/* Where the process stands, or would. */
struct news_process **news_place(struct news *news, pid_t pid);
/* NULL: there is no memory, or there are too many. */
struct news_process *news_process_get(struct news *news, pid_t pid);
/* Another process has its number. */
struct news_process *news_process_anew(struct news *news, pid_t pid);
void news_process_gone(struct news *news, struct news_process *p);
void news_process_forget(struct news *news, pid_t pid);

/* "NAME (PID)"; the text is the caller's room of WHO_SIZE. */
const char *news_who(struct news *news, pid_t pid, char *text);
void news_name_take(struct news_process *p, const char *path);
void news_name_inherit(struct news *news, struct news_process *p, pid_t parent);

#endif /* SPI_CLI_RUN_NEWS_INTERNAL_H */
