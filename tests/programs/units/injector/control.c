/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A controller that only tells what it hears, one line an event; control.t plays
 * the agents. Prints the socket's path first; adds a rule at each HELLO; ends
 * with its stdin.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "injector/control/control.h"

static void on_hello(struct spi_agent *agent, void *data)
{
	const volatile struct spi_status_page *status = spi_agent_status(agent);

	printf("hello exe=%s flags=%u entries=%ld own=%d\n", spi_agent_exe(agent), spi_agent_flags(agent),
	       status ? (long) status->entries : -1L, spi_agent_pid(agent) > 0 && spi_agent_start_time(agent) > 0);
	spi_agent_rule_add(agent, 7, SPI_RULE_ONE_EVENT, "lib.so:f_*");
	spi_agent_go(agent);
}

static void on_rule_done(struct spi_agent *agent, const struct spi_msg_rule_done *done, const char *text, void *data)
{
	printf("done rule=%u status=%d instrumented=%u text=%s\n", done->rule, done->status, done->instrumented, text);
	spi_agent_detach(agent);
}

static void on_declined(struct spi_agent *agent, const char *object, const char *function, const char *reason,
		void *data)
{
	printf("declined %s|%s|%s\n", object, function, reason);
}

static void on_note(struct spi_agent *agent, const char *text, void *data)
{
	printf("note %s\n", text);
}

static void on_detached(struct spi_agent *agent, void *data)
{
	puts("detached");
}

static void on_gone(struct spi_agent *agent, void *data)
{
	puts("gone");
}

int main(void)
{
	static const struct spi_control_ops ops = { .on_hello = on_hello, .on_rule_done = on_rule_done,
		.on_declined = on_declined, .on_note = on_note, .on_detached = on_detached, .on_gone = on_gone };
	struct pollfd polled[2] = { { .fd = 0, .events = POLLIN }, { .events = POLLIN } };
	struct spi_control *control;
	const char *path;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (spi_control_create(&control, &ops, NULL) || spi_control_listen(control, &path))
		return 1;
	spi_control_welcome(control, SPI_WELCOME_KEEP, 99);
	puts(path);
	polled[1].fd = spi_control_fd(control);
	while (poll(polled, 2, -1) > 0 && !polled[0].revents)
		if (spi_control_dispatch(control) < 0)
			return 1;
	spi_control_destroy(control);
	return 0;
}
