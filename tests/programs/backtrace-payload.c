/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A payload file: "enter" or "leave" and the backtrace of each call of hit(), 40 frames at most, on standard error. */
#include <lttng/spi.h>
#include <stdio.h>

static void say(const char *what, struct spi_call *call)
{
	uint64_t addresses[40];
	int n = spi_call_backtrace(call, addresses, 40);

	fprintf(stderr, "%s %d", what, addresses[0] == spi_call_return_address(call) ? n : -1);
	for (int i = 0; i < n; i++)
		fprintf(stderr, " %llx", (unsigned long long) addresses[i]);
	fprintf(stderr, "\n");
}

static void *enter(struct spi_call *call, void *data)
{
	(void) data;
	say("enter", call);
	return NULL;
}

static void leave(struct spi_call *call, void *data)
{
	(void) data;
	say("leave", call);
}

__attribute__((constructor)) static void begin(void)
{
	const char *const names[] = { "hit" };
	struct spi_agent *agent = spi_agent_create(NULL);

	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_exit(agent, leave, NULL);
	spi_agent_set_init_event(agent, spi_event_calls(names, 1));
	spi_agent_go(agent);
}
