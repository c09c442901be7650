/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Agents made by several threads at once, each of which counts calls of leaf(); with NAMES in the environment, one with
 * so many names of functions not to instrument.
 */
#include <lttng/spi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS	4

static long calls[THREADS];
static pthread_barrier_t barrier;

static void *enter(struct spi_call *call, void *data)
{
	(void) call;
	++*(long *) data;
	return NULL;
}

static void fini(struct spi_agent *agent, void *data)
{
	char line[60];

	spi_agent_write(agent, line, (size_t) snprintf(line, sizeof(line), "calls %ld\n", *(long *) data));
}

static void *make(void *data)
{
	const char *const leaf[] = { "leaf" };
	struct spi_agent *agent;

	pthread_barrier_wait(&barrier);
	agent = spi_agent_create(NULL);
	spi_agent_set_entry(agent, enter, data);
	spi_agent_set_fini(agent, fini, data);
	spi_agent_set_init_event(agent, spi_event_calls(leaf, 1));
	spi_agent_go(agent);
	return NULL;
}

static void names(int count)
{
	const char *name[64];
	struct spi_agent *agent = spi_agent_create(NULL);

	for (int i = 0; i < count && i < 64; i++)
		name[i] = "none";
	spi_agent_set_entry(agent, enter, &calls[0]);
	spi_agent_set_functions_not_to_instrument(agent, name, (size_t) count);
	fprintf(stderr, "%s: %s\n", spi_agent_go(agent) < 0 ? "refused" : "goes", spi_agent_error(agent));
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t thread[THREADS];

	if (getenv("NAMES")) {
		names(atoi(getenv("NAMES")));
		return;
	}
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, make, &calls[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}
