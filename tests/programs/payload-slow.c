/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A payload that takes its time in the call of leaf(): how=lock waits for a lock that nobody gives back, how=loop runs
 * for ever, how=poll waits in the kernel, how=fast takes none. The limit is limit=MICROSECONDS. limit=0: there is none.
 */
#include <lttng/spi.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct spi_agent *agent;
static const char *how;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long spun;

static void *enter(struct spi_call *call, void *data)
{
	static long calls;
	char line[60];

	(void) data;
	spi_call_propel(call);
	if (strcmp(spi_function_name(spi_call_callee(call)), "leaf"))
		return NULL;
	spi_agent_write(agent, line, (size_t) snprintf(line, sizeof(line), "call %ld\n", ++calls));
	if (!strcmp(how, "lock"))
		pthread_mutex_lock(&lock);
	while (!strcmp(how, "loop"))
		spun++;
	if (!strcmp(how, "poll"))
		poll(NULL, 0, -1);
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	struct spi_agent_options options = { .size = sizeof(options), .version = LTTNG_SPI_VERSION };
	const char *const none[] = { "libc.so.6", "ld-linux*" };

	options.limit_us = getenv("LIMIT") ? (uint32_t) atoi(getenv("LIMIT")) : 20000;
	agent = spi_agent_create(&options);
	if (!agent)
		return;
	how = spi_agent_argument(agent, "how");
	how = how ? how : "fast";
	pthread_mutex_lock(&lock);
	spi_agent_set_libraries_not_to_instrument(agent, none, 2);
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_go(agent);
}
