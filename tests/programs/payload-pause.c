/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Sees three calls of a function, and pauses it; the calls of another payload, or LTTng's, must go on all the same. */
#include <stdio.h>
#include <lttng/spi.h>

static struct spi_agent *agent;
static int calls, ends, result;

static void *enter(struct spi_call *call, void *data)
{
	(void) data;
	if (++calls == 3)
		result = spi_agent_pause(agent, spi_call_point(call), 1);
	return NULL;
}

static void leave(struct spi_call *call, void *data)
{
	(void) call;
	(void) data;
	ends++;
}

static void fini(struct spi_agent *a, void *data)
{
	char line[64];
	const int n = snprintf(line, sizeof(line), "paused %d: %d %d\n", result, calls, ends);

	(void) data;
	spi_agent_write(a, line, (size_t) n);
}

__attribute__((constructor)) static void begin(void)
{
	agent = spi_agent_create(NULL);
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_exit(agent, leave, NULL);
	spi_agent_set_fini(agent, fini, NULL);
	spi_agent_go(agent);
}
