/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The session daemon's plugin, and a program that this run starts under its rules: the program's agent connects to the
 * plugin's broker and names the rules by their numbers, as one does that a traced program has executed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "broker/status-proto.h"
#include "cli/base/say.h"
#include "cli/daemon/directory.h"
#include "cli/rules/status.h"
#include "cli/run/run.h"
#include "cli/run/scope.h"
#include "cli/ui/trace-options.h"
#include "rules/options.h"

#define PLUGIN_MS	5000	/* a daemon that has just been started is there before its plugin's socket */
#define RUNNING_MS	500	/* one that ran already may have its plugin's broker started again */
#define FOLLOW_MS	5000	/* for the plugin to have seen the rules */
#define LOOK_MS		20

/* Until its plugin answers. 0, -EINTR, or -ETIMEDOUT. */
static int wait_socket(struct run *run, int64_t deadline)
{
	int watch = plugin_watch(), ret = 0, fd;
	int64_t left;

	while ((fd = plugin_connect(0)) < 0 && ret == 0) {
		left = deadline - run_now();
		ret = left > 0 ? plugin_watched(watch, run->signals, left) : -ETIMEDOUT;
	}
	if (fd >= 0)
		close(fd);
	if (watch >= 0)
		close(watch);
	return fd >= 0 ? 0 : ret;
}

int scope_wait_plugin(struct run *run, const char *option)
{
	int64_t limit = lttng_session_daemon_alive() == 1 ? RUNNING_MS : PLUGIN_MS;
	int ret = run_daemon(run);

	if (ret == 0)
		ret = wait_socket(run, run_now() + limit);
	if (ret == -ETIMEDOUT)
		say_error("%s: " PLUGIN_MISSING, option);
	return ret == 0 ? 0 : ret == -EINTR ? run_interrupted(run) : TRACE_STATUS_ERROR;
}

int scope_launched(struct trace_options *o)
{
	char why[SPI_RULE_WHY];

	return spi_rule_take_pid(&o->asked, SPI_PID_STARTED, why);
}

void scope_began(struct scope *e, pid_t pid)
{
	char why[SPI_RULE_WHY];

	spi_rule_take_pid(&e->options.asked, pid, why);
}

/* The numbers of our rules that instrument. */
static void numbers_of(const struct scope *e, const struct status *status, const char *session, char *numbers, size_t size)
{
	size_t n = 0;

	*numbers = 0;
	for (unsigned int i = 0; i < status->count; i++) {
		const struct status_record *r = &status->records[i];
		int is_ours = 0;

		if (!status_is(r, "rule") || strcmp(r->field[0], session) || !*r->field[8])
			continue;
		for (unsigned int row = 0; row < e->rows; row++)
			for (int k = 0; k < e->counts[row]; k++)
				is_ours |= !strcmp(r->field[2], e->recipes[row][k].name);
		if (is_ours && n < size)
			n += (size_t) snprintf(numbers + n, size - n, "%s%s", n ? "+" : "", r->field[8]);
	}
	if (n >= size)
		*numbers = 0;
}

int scope_follow(struct scope *e, struct run *run, char *numbers, size_t size, char *socket, size_t socket_size)
{
	const int64_t deadline = run_now() + FOLLOW_MS;
	int signal = 0;

	if (plugin_path(SPI_AGENT_SOCKET, socket, socket_size) < 0)
		*socket = 0;
	for (;;) {
		struct status status;

		*numbers = 0;
		if (scope_status(&status) == 0 && scope_is_known(e, &status, run->session.name))
			numbers_of(e, &status, run->session.name, numbers, size);
		status_free(&status);
		if (*numbers)
			return 0;
		if (run_now() > deadline)
			break;
		switch (run_wait(run, -1, run_now() + LOOK_MS, &signal, NULL)) {
		case RUN_EVENT_SIGNAL:
			run->killed_by = signal;
			return TRACE_STATUS_ERROR;
		case RUN_EVENT_ERROR:
		case RUN_EVENT_READER:
			return TRACE_STATUS_ERROR;
		default:
			break;
		}
	}
	say_error("the session daemon's plugin has not taken the rules: lttng list --spi says why");
	return TRACE_STATUS_ERROR;
}
