/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A process's end is told by the process itself, by the parent that waits for it, or by both: it is printed once. A
 * process is known by its number until its parent has waited for it, when the number is free for another one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/say.h"
#include "cli/run/news.h"
#include "injector/procfs/procfs.h"
#include "payloads/process-news.h"

#define PIPE_BYTES	(1 << 20)	/* while we are busy with something else */
#define WHO_SIZE	160u
#define KNOWN_MOST	65536u		/* numbers come from processes, which may say anything */

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

/* ---- lines ---- */

static char *line_make(const struct process_news *n, const char *format, ...) __attribute__((format(printf, 2, 3)));
static char *line_make(const struct process_news *n, const char *format, ...)
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
static void keep(struct news *news, char *line)
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
static void put(struct news *news, const struct process_news *n, char *line)
{
	if (!news->is_recording && line)
		say_plain("%s", line);
	if (news->is_recording && !n->is_recorded)
		keep(news, line);
	else
		free(line);
}

/* ---- processes ---- */

static struct news_process **place_of(struct news *news, pid_t pid)
{
	struct news_process **p = &news->processes[(unsigned int) pid % NEWS_PROCESSES];

	while (*p && (*p)->pid != pid)
		p = &(*p)->next;
	return p;
}

static struct news_process *process_get(struct news *news, pid_t pid)
{
	struct news_process **p = place_of(news, pid);

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
static void lines_keep(struct news *news, struct news_process *p)
{
	if (p->executes)
		keep(news, p->executes);
	if (p->ends)
		keep(news, p->ends);
	p->executes = p->ends = NULL;
}

static void process_forget(struct news *news, pid_t pid)
{
	struct news_process **p = place_of(news, pid), *over = *p;

	if (!over)
		return;
	lines_keep(news, over);
	*p = over->next;
	news->known--;
	free(over);
}

/* Its number is free for another process; its name is kept for a while. */
static void process_gone(struct news *news, struct news_process *p)
{
	pid_t *place = &news->gone[news->gone_next++ % (sizeof(news->gone) / sizeof(news->gone[0]))];
	const struct news_process *before = *place_of(news, *place);

	lines_keep(news, p);
	p->is_ended = p->is_gone = 1;
	if (before && before->is_gone && *place != p->pid)
		process_forget(news, *place);
	*place = p->pid;
}

/* "NAME (PID)"; the text is the caller's room. */
static const char *who(struct news *news, pid_t pid, char *text)
{
	struct news_process *p = *place_of(news, pid);

	if (pid == getpid())
		snprintf(text, WHO_SIZE, "lttng trace");
	else if (p && *p->name)
		snprintf(text, WHO_SIZE, "%s (%d)", p->name, (int) pid);
	else
		snprintf(text, WHO_SIZE, "process %d", (int) pid);
	return text;
}

static void name_take(struct news_process *p, const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(p->name, sizeof(p->name), "%s", slash ? slash + 1 : path);
}

static void name_inherit(struct news *news, struct news_process *p, pid_t parent)
{
	const struct news_process *from = *place_of(news, parent);

	if (!*p->name && from)
		memcpy(p->name, from->name, sizeof(p->name));
}

/* Another process has its number. */
static struct news_process *process_anew(struct news *news, pid_t pid)
{
	process_forget(news, pid);
	return process_get(news, pid);
}

/* ---- news ---- */

static void on_made(struct news *news, const struct process_news *n, pid_t parent, pid_t child)
{
	const int by_parent = n->kind == PROCESS_CREATED;
	struct news_process *p = process_get(news, child);
	char a[WHO_SIZE];

	if (p && p->is_ended && (by_parent ? p->is_parent_told : p->is_child_told))
		p = process_anew(news, child);
	if (!p)
		return;
	*(by_parent ? &p->is_parent_told : &p->is_child_told) = 1;
	p->is_in_trace |= n->is_recorded;
	p->parent = parent;
	name_inherit(news, p, parent);
	if (!news->is_recording && !p->is_made_printed)
		put(news, n, line_make(n, "%s creates process %d", who(news, parent, a), (int) child));
	p->is_made_printed = 1;
}

static void on_begun(struct news *news, const struct process_news *n, const char *text)
{
	struct news_process *p = process_get(news, n->pid);
	const char *format = n->code ? "%s runs already: %s, child of %s" : "%s executes %s, child of %s";
	char a[WHO_SIZE], b[WHO_SIZE];

	if (p && p->is_ended)
		p = process_anew(news, n->pid);
	if (!p)
		return;
	p->is_child_told = p->is_made_printed = 1;
	p->parent = n->other;
	if (n->is_recorded) {
		p->is_in_trace = 1;
		free(p->executes);
		p->executes = NULL;
	}
	if (!p->is_executing || news->is_recording) {
		name_inherit(news, p, n->other);
		put(news, n, line_make(n, format, who(news, n->pid, a), text, who(news, n->other, b)));
	}
	p->is_executing = 0;
	name_take(p, text);
}

static void on_executes(struct news *news, const struct process_news *n, const char *text)
{
	struct news_process *p = process_get(news, n->pid);
	char a[WHO_SIZE], *line = line_make(n, "%s executes %s", who(news, n->pid, a), text);

	if (!p || !news->is_recording) {
		put(news, n, line);
	} else if (n->is_recorded) {
		free(line);
	} else {	/* the program may say so itself */
		if (p->executes)
			keep(news, p->executes);
		p->executes = line;
	}
	if (!p)
		return;
	p->is_executing = 1;
	name_take(p, text);
}

static char *end_text(struct news *news, const struct process_news *n, pid_t pid, const char *says)
{
	char a[WHO_SIZE], b[WHO_SIZE];

	if (n->signal > 0 && n->kind == PROCESS_ENDED && n->other > 0)
		return line_make(n, "%s is ended by SIG%s from %s", who(news, pid, a), sigabbrev_np(n->signal) ?: "?",
			n->other == pid ? "itself" : who(news, n->other, b));
	if (n->signal > 0)
		return line_make(n, "%s is ended by SIG%s%s", who(news, pid, a), sigabbrev_np(n->signal) ?: "?", says);
	if (n->code < 0)
		return line_make(n, "%s ends", who(news, pid, a));
	return line_make(n, "%s ends with %d%s", who(news, pid, a), n->code, says);
}

static void on_ended(struct news *news, const struct process_news *n)
{
	struct news_process *p = process_get(news, n->pid);
	const int is_vague = n->code < 0 && n->signal <= 0;
	char *line = end_text(news, n, n->pid, "");

	if (!p) {
		put(news, n, line);
	} else if (p->is_ended || (is_vague && n->is_recorded)) {
		free(line);
	} else if (is_vague || (news->is_recording && !n->is_recorded)) {
		p->ends = line;		/* its parent may say so, or more */
	} else {
		put(news, n, line);
	}
	if (p && !p->is_ended)
		p->is_vague = is_vague;
	if (p)
		p->is_ended = 1;
}

static void on_waited(struct news *news, const struct process_news *n)
{
	struct news_process *p = process_get(news, n->other);
	char says[WHO_SIZE + 40] = "", a[WHO_SIZE];

	if (!p) {
		put(news, n, end_text(news, n, n->other, ""));
		return;
	}
	if (p->is_gone)
		return;
	name_inherit(news, p, n->pid);
	if (n->pid != getpid())
		snprintf(says, sizeof(says), ", says its parent %s", who(news, n->pid, a));
	if (n->is_recorded || p->is_vague) {
		free(p->ends);
		p->ends = NULL;
	}
	p->is_in_trace |= n->is_recorded;
	if (!p->is_ended || p->is_vague)
		put(news, n, end_text(news, n, n->other, says));
	process_gone(news, p);
}

static void on_signal(struct news *news, const struct process_news *n)
{
	char a[WHO_SIZE], b[WHO_SIZE], from[WHO_SIZE + 8] = "";

	if (n->is_fatal)	/* the end is told next, with the sender */
		return;
	if (n->other > 0)
		snprintf(from, sizeof(from), " from %s", n->other == n->pid ? "itself" : who(news, n->other, b));
	put(news, n, line_make(n, "%s gets SIG%s%s", who(news, n->pid, a), sigabbrev_np(n->signal) ?: "?", from));
}

static void on_news(struct news *news, const struct process_news *n, const char *text)
{
	char a[WHO_SIZE];

	news->lost += n->lost;
	switch (n->kind) {
	case PROCESS_BEGUN:
		on_begun(news, n, text);
		break;
	case PROCESS_LIBRARIES:
		put(news, n, line_make(n, "%s has loaded %s", who(news, n->pid, a), text));
		break;
	case PROCESS_CREATED:
		on_made(news, n, n->pid, n->other);
		break;
	case PROCESS_IS_CHILD:
		on_made(news, n, n->other, n->pid);
		break;
	case PROCESS_EXECUTES:
		on_executes(news, n, text);
		break;
	case PROCESS_ENDED:
		on_ended(news, n);
		break;
	case PROCESS_WAITED:
		on_waited(news, n);
		break;
	case PROCESS_SIGNAL:
		on_signal(news, n);
		break;
	case PROCESS_LOADED:
	case PROCESS_UNLOADED:
		put(news, n, line_make(n, "%s %s %s", who(news, n->pid, a), n->kind == PROCESS_LOADED ? "loads" : "unloads",
			text));
		break;
	}
}

/* ---- the pipe ---- */

int news_begin(struct news *news, int is_recording)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
	news->is_wanted = 1;
	news->is_recording = is_recording;
	news->from = ends[0];
	news->to = ends[1];
	return ends[1];
}

/* What is no news comes from a process that may write anything: it is left out, byte by byte. */
static void news_take(struct news *news)
{
	size_t at = 0;
	struct process_news n;

	while (news->size - at >= sizeof(n)) {
		memcpy(&n, news->bytes + at, sizeof(n));
		if (n.magic != PROCESS_NEWS_MAGIC || n.size <= sizeof(n) || n.size > sizeof(n) + PROCESS_NEWS_TEXT) {
			at++;
			continue;
		}
		if (news->size - at < n.size)
			break;
		news->bytes[at + n.size - 1] = 0;
		on_news(news, &n, news->bytes + at + sizeof(n));
		at += n.size;
	}
	memmove(news->bytes, news->bytes + at, news->size - at);
	news->size -= at;
}

void news_read(struct news *news)
{
	ssize_t n;

	while (news->is_wanted && (n = read(news->from, news->bytes + news->size, sizeof(news->bytes) - news->size)) > 0) {
		news->size += (size_t) n;
		news_take(news);
	}
}

void news_waited(struct news *news, pid_t pid, int status)
{
	struct process_news n = { .kind = PROCESS_WAITED, .pid = getpid(), .other = pid, .code = -1 };
	struct timespec now;

	if (!news->is_wanted)
		return;
	news_read(news);
	clock_gettime(CLOCK_REALTIME, &now);
	n.at = (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
	if (WIFEXITED(status))
		n.code = WEXITSTATUS(status);
	else
		n.signal = WTERMSIG(status);
	on_waited(news, &n);
}

/* ---- the end ---- */

/* Its status, as waitpid() gives it, where the kernel still has that; -1: it is not known; -2: the process runs. */
static int status_left(pid_t pid)
{
	char *text = spi_proc_read(NULL, "%d/stat", (int) pid), *at = text ? strrchr(text, ')') : NULL, *last;
	int status = -1;

	if (at && at[1] && at[2] != 'Z' && at[2] != 'X') {
		status = -2;
	} else if (at) {
		last = strrchr(at, ' ');
		status = last ? atoi(last) : -1;
	}
	free(text);
	return status;
}

static void processes_end(struct news *news)
{
	char a[WHO_SIZE], b[WHO_SIZE];

	for (unsigned int i = 0; i < NEWS_PROCESSES; i++)
		while (news->processes[i]) {
			struct news_process *p = news->processes[i];
			const pid_t pid = p->pid;
			const int status = p->is_ended ? -1 : status_left(pid);

			if (news->is_recording && !p->is_in_trace)
				say_plain("Not in the trace: %s was created by %s", who(news, pid, a),
					who(news, p->parent, b));
			if (status >= 0)
				news_waited(news, pid, status);
			else if (status == -2)
				say_plain("%s still runs", who(news, pid, a));
			else if (!p->is_ended)
				say_plain("%s has ended, and nobody has said how: by SIGKILL or a system call of its own, and no "
					"traced process has waited for it", who(news, pid, a));
			process_forget(news, pid);
		}
}

void news_end(struct news *news)
{
	const unsigned int places = sizeof(news->missing) / sizeof(news->missing[0]);

	if (!news->is_wanted)
		return;
	news_read(news);
	processes_end(news);
	for (unsigned int i = 0; i < news->missing_count && i < places; i++) {
		say_plain("Not in the trace: %s", news->missing[i]);
		free(news->missing[i]);
	}
	if (news->missing_count > places)
		say_plain("Not in the trace: %u more", news->missing_count - places);
	if (news->lost)
		say_warning("%lu news of processes were lost: more came than could be taken", news->lost);
	if (news->count)
		say("%u process%s", news->count, news->count == 1 ? "" : "es");
	close(news->from);
	close(news->to);
	news->is_wanted = 0;
}
