/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Measures spi_call_backtrace() at the call of measure(FRAMES, ...): backtrace.c. */
#include <lttng/spi.h>
#include <stdio.h>
#include <time.h>

#define TIMES 20000

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

static void *enter(struct spi_call *call, void *data)
{
	struct spi_arguments arguments = { 0 };
	const int *frames = spi_call_pop_argument(call, &arguments, sizeof(*frames));
	uint64_t to[128];
	double begin;

	(void) data;
	if (spi_call_backtrace(call, to, (size_t) *frames) != *frames)
		return NULL;
	begin = now();
	for (int i = 0; i < TIMES; i++)
		spi_call_backtrace(call, to, (size_t) *frames);
	printf("%.1f\n", (now() - begin) / TIMES);
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	const char *const names[] = { "measure" };
	struct spi_agent *agent = spi_agent_create(NULL);

	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_init_event(agent, spi_event_calls(names, 1));
	spi_agent_go(agent);
}
