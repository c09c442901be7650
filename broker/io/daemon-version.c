/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which lttng-tools the daemon is of.
 *
 * The daemon tells no client, and the libraries here may be of another version than a daemon that has run since
 * before they were installed. So the daemon's own executable file, replaced on disk or not, is run with --version, by
 * a child whose output is our socket.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "broker/base/base.h"
#include "broker/io/internal.h"

#define VERSION_MS	10000u

static struct child child;
static struct loop_timer late;

static int version_print(void *data)
{
	static char *const words[] = { "lttng-sessiond", "--version", NULL };
	static char *const environment[] = { "LC_ALL=C", NULL };
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int) the_daemon()->told.pid);
	if (dup2(CHILD_FD, STDOUT_FILENO) < 0)
		return 1;
	execve(path, words, environment);
	return 1;
}

void version_stop(void)
{
	loop_timer_cancel(&late);
	child_stop(&child);
}

static void version_late(struct loop_timer *timer)
{
	version_stop();
}

/* Its first word that begins with a digit: "2.13.9". */
static void version_read(struct loop_source *source, uint32_t events)
{
	char text[256], *word, *rest;
	unsigned int nr_fds;
	ssize_t n = packet_receive(source->fd, text, sizeof(text) - 1, NULL, 0, &nr_fds);

	text[n > 0 ? n : 0] = 0;
	for (word = strtok_r(text, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
		if (*word < '0' || *word > '9' || word[strspn(word, "0123456789.-+~_abcdefghijklmnopqrstuvwxyz")])
			continue;
		daemon_set_version(word);
		break;
	}
	version_stop();
}

void version_ask(void)
{
	if (!child_start(&child, version_print, NULL, version_read))
		loop_timer_set(&late, VERSION_MS, version_late);
}
