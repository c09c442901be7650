/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The processes of a run, by their numbers. A process is known until its parent has waited for it, when its number is
 * free for another one; of the latest of these the names are kept.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/say.h"
#include "cli/run/news.h"
#include "cli/run/news-internal.h"
#include "payloads/process-news.h"

#define KNOWN_MOST	65536u		/* numbers come from processes, which may say anything */

/* ---- lines ---- */

char *news_line(const struct process_news *n, const char *format, ...)
{
	const time_t seconds = (time_t) (n->at / 1000000000u);
	char *text = NULL, *line = NULL;
	va_list args;
	struct tm tm;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	localtime_r(&seconds, &tm);
	if (text && asprintf(&line, "[%02d:%02d:%02d.%09u] %s", tm.tm_hour, tm.tm_min, tm.tm_sec,
			(unsigned int) (n->at % 1000000000u), text) < 0)
		line = NULL;
	free(text);
	return line;
}

/* It is missing in the trace. Without one it has waited for something better. */
void news_keep(struct news *news, char *line)
{
	if (line && !news->is_recording)
		say_plain("%s", line);
	if (!news->is_recording) {
		free(line);
		return;
	}
	if (line && news->missing_count < sizeof(news->missing) / sizeof(news->missing[0]))
		news->missing[news->missing_count] = line;
	else
		free(line);
	news->missing_count++;
}

/* What is news of, on its own: printed now, or kept for the end. The line goes. */
void news_put(struct news *news, const struct process_news *n, char *line)
{
	if (!news->is_recording && line)
		say_plain("%s", line);
	if (news->is_recording && !n->is_recorded)
		news_keep(news, line);
	else
		free(line);
}

/* ---- processes ---- */

struct news_process **news_place(struct news *news, pid_t pid)
{
	struct news_process **p = &news->processes[(unsigned int) pid % NEWS_PROCESSES];

	while (*p && (*p)->pid != pid)
		p = &(*p)->next;
	return p;
}

struct news_process *news_process_get(struct news *news, pid_t pid)
{
	struct news_process **p = news_place(news, pid);

	if (*p)
		return *p;
	*p = news->known < KNOWN_MOST ? calloc(1, sizeof(**p)) : NULL;
	if (!*p)
		return NULL;
	(*p)->pid = pid;
	news->count++;
	news->known++;
	return *p;
}

/* Nothing more is told of it. */
static void news_lines_keep(struct news *news, struct news_process *p)
{
	if (p->executes)
		news_keep(news, p->executes);
	if (p->ends)
		news_keep(news, p->ends);
	p->executes = p->ends = NULL;
}

void news_process_forget(struct news *news, pid_t pid)
{
	struct news_process **p = news_place(news, pid), *over = *p;

	if (!over)
		return;
	news_lines_keep(news, over);
	*p = over->next;
	news->known--;
	free(over);
}

/* Its number is free for another process; its name is kept for a while. */
void news_process_gone(struct news *news, struct news_process *p)
{
	pid_t *place = &news->gone[news->gone_next++ % (sizeof(news->gone) / sizeof(news->gone[0]))];
	const struct news_process *before = *news_place(news, *place);

	news_lines_keep(news, p);
	p->is_ended = p->is_gone = 1;
	if (before && before->is_gone && *place != p->pid)
		news_process_forget(news, *place);
	*place = p->pid;
}

/* "NAME (PID)"; the text is the caller's room. */
const char *news_who(struct news *news, pid_t pid, char *text)
{
	struct news_process *p = *news_place(news, pid);

	if (pid == getpid())
		snprintf(text, WHO_SIZE, "lttng trace");
	else if (p && *p->name)
		snprintf(text, WHO_SIZE, "%s (%d)", p->name, (int) pid);
	else
		snprintf(text, WHO_SIZE, "process %d", (int) pid);
	return text;
}

void news_name_take(struct news_process *p, const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(p->name, sizeof(p->name), "%s", slash ? slash + 1 : path);
}

void news_name_inherit(struct news *news, struct news_process *p, pid_t parent)
{
	const struct news_process *from = *news_place(news, parent);

	if (!*p->name && from)
		memcpy(p->name, from->name, sizeof(p->name));
}

/* Another process has its number. */
struct news_process *news_process_anew(struct news *news, pid_t pid)
{
	news_process_forget(news, pid);
	return news_process_get(news, pid);
}
