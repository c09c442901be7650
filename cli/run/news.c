/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A process's end is told by the process itself, by the parent that waits for it, or by both: it is printed once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/say.h"
#include "cli/run/news.h"
#include "cli/run/news-internal.h"
#include "injector/procfs/procfs.h"
#include "payloads/process-news.h"

#define PIPE_BYTES	(1 << 20)	/* while we are busy with something else */

/* ---- news ---- */

static void on_made(struct news *news, const struct process_news *n, pid_t parent, pid_t child)
{
	const int by_parent = n->kind == PROCESS_CREATED;
	struct news_process *p = news_process_get(news, child);
	char a[WHO_SIZE];

	if (p && p->is_ended && (by_parent ? p->is_parent_told : p->is_child_told))
		p = news_process_anew(news, child);
	if (!p)
		return;
	*(by_parent ? &p->is_parent_told : &p->is_child_told) = 1;
	p->is_in_trace |= n->is_recorded;
	p->parent = parent;
	news_name_inherit(news, p, parent);
	if (!news->is_recording && !p->is_made_printed)
		news_put(news, n, news_line(n, "%s creates process %d", news_who(news, parent, a), (int) child));
	p->is_made_printed = 1;
}

static void on_begun(struct news *news, const struct process_news *n, const char *text)
{
	struct news_process *p = news_process_get(news, n->pid);
	const char *format = n->code ? "%s runs already: %s, child of %s" : "%s executes %s, child of %s";
	char a[WHO_SIZE], b[WHO_SIZE];

	if (p && p->is_ended)
		p = news_process_anew(news, n->pid);
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
		news_name_inherit(news, p, n->other);
		news_put(news, n, news_line(n, format, news_who(news, n->pid, a), text, news_who(news, n->other, b)));
	}
	p->is_executing = 0;
	news_name_take(p, text);
}

static void on_executes(struct news *news, const struct process_news *n, const char *text)
{
	struct news_process *p = news_process_get(news, n->pid);
	char a[WHO_SIZE], *line = news_line(n, "%s executes %s", news_who(news, n->pid, a), text);

	if (!p || !news->is_recording) {
		news_put(news, n, line);
	} else if (n->is_recorded) {
		free(line);
	} else {	/* the program may say so itself */
		if (p->executes)
			news_keep(news, p->executes);
		p->executes = line;
	}
	if (!p)
		return;
	p->is_executing = 1;
	news_name_take(p, text);
}

/* As SIGNAME without "SIG"; real-time signals have no name. */
static const char *signal_name(int number)
{
	const char *name = sigabbrev_np(number);

	return name ? name : "?";
}

static char *end_text(struct news *news, const struct process_news *n, pid_t pid, const char *says)
{
	char a[WHO_SIZE], b[WHO_SIZE];

	if (n->signal > 0 && n->kind == PROCESS_ENDED && n->other > 0)
		return news_line(n, "%s is ended by SIG%s from %s", news_who(news, pid, a), signal_name(n->signal),
			n->other == pid ? "itself" : news_who(news, n->other, b));
	if (n->signal > 0)
		return news_line(n, "%s is ended by SIG%s%s", news_who(news, pid, a), signal_name(n->signal), says);
	if (n->code < 0)
		return news_line(n, "%s ends", news_who(news, pid, a));
	return news_line(n, "%s ends with %d%s", news_who(news, pid, a), n->code, says);
}

static void on_ended(struct news *news, const struct process_news *n)
{
	struct news_process *p = news_process_get(news, n->pid);
	const int is_vague = n->code < 0 && n->signal <= 0;
	char *line = end_text(news, n, n->pid, "");

	if (!p) {
		news_put(news, n, line);
	} else if (p->is_ended || (is_vague && n->is_recorded)) {
		free(line);
	} else if (is_vague || (news->is_recording && !n->is_recorded)) {
		p->ends = line;		/* its parent may say so, or more */
	} else {
		news_put(news, n, line);
	}
	if (p && !p->is_ended)
		p->is_vague = is_vague;
	if (p)
		p->is_ended = 1;
}

static void on_waited(struct news *news, const struct process_news *n)
{
	struct news_process *p = news_process_get(news, n->other);
	char says[WHO_SIZE + 40] = "", a[WHO_SIZE];

	if (!p) {
		news_put(news, n, end_text(news, n, n->other, ""));
		return;
	}
	if (p->is_gone)
		return;
	news_name_inherit(news, p, n->pid);
	if (n->pid != getpid())
		snprintf(says, sizeof(says), ", says its parent %s", news_who(news, n->pid, a));
	if (n->is_recorded || p->is_vague) {
		free(p->ends);
		p->ends = NULL;
	}
	p->is_in_trace |= n->is_recorded;
	if (!p->is_ended || p->is_vague)
		news_put(news, n, end_text(news, n, n->other, says));
	news_process_gone(news, p);
}

static void on_signal(struct news *news, const struct process_news *n)
{
	char a[WHO_SIZE], b[WHO_SIZE], from[WHO_SIZE + 8] = "";

	if (n->is_fatal)	/* the end is told next, with the sender */
		return;
	if (n->other > 0)
		snprintf(from, sizeof(from), " from %s", n->other == n->pid ? "itself" : news_who(news, n->other, b));
	news_put(news, n, news_line(n, "%s gets SIG%s%s", news_who(news, n->pid, a), signal_name(n->signal), from));
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
		news_put(news, n, news_line(n, "%s has loaded %s", news_who(news, n->pid, a), text));
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
		news_put(news, n, news_line(n, "%s %s %s", news_who(news, n->pid, a),
			n->kind == PROCESS_LOADED ? "loads" : "unloads", text));
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

	while (news->is_wanted &&
			(n = read(news->from, news->bytes + news->size, sizeof(news->bytes) - news->size)) > 0) {
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
				say_plain("Not in the trace: %s was created by %s", news_who(news, pid, a),
					news_who(news, p->parent, b));
			if (status >= 0)
				news_waited(news, pid, status);
			else if (status == -2)
				say_plain("%s still runs", news_who(news, pid, a));
			else if (!p->is_ended)
				say_plain("%s has ended, and nobody has said how: by SIGKILL or a system call of its own, "
					"and no traced process has waited for it", news_who(news, pid, a));
			news_process_forget(news, pid);
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
