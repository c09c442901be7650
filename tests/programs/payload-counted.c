/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A payload that is safe in signal handlers and counts the calls of work(): entries, exits, exits of calls that were
 * left, and exits whose user data or return address are not the entry's. Built plain, or with -mgeneral-regs-only and
 * -DFLAGS=SPI_PAYLOAD_GENERAL_REGISTERS.
 */
#include <lttng/spi.h>
#include <stdio.h>
#include <string.h>

#ifndef FLAGS
#define FLAGS 0
#endif

static struct spi_agent *agent;
static uint64_t entries, exits, left, wrong;

static void *enter(struct spi_call *call, void *data)
{
	__atomic_add_fetch((uint64_t *) data, 1, __ATOMIC_RELAXED);
	return (void *) ~spi_call_return_address(call);
}

static void leave(struct spi_call *call, void *data)
{
	__atomic_add_fetch((uint64_t *) data, 1, __ATOMIC_RELAXED);
	if (spi_call_ending(call) != SPI_CALL_RETURNED)
		__atomic_add_fetch(&left, 1, __ATOMIC_RELAXED);
	if ((uint64_t) spi_call_user_data(call) != ~spi_call_return_address(call))
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
}

static void fini(struct spi_agent *a, void *data)
{
	char line[120];

	(void) data;
	snprintf(line, sizeof(line), "entries %lu exits %lu left %s wrong %lu\n", entries, exits, left ? "some" : "none", wrong);
	spi_agent_write(a, line, strlen(line));
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = {
		.size = sizeof(options), .version = LTTNG_SPI_VERSION, .flags = SPI_PAYLOAD_SIGNAL_SAFE | FLAGS,
	};
	const char *name = "work";

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	spi_agent_set_entry(agent, enter, &entries);
	spi_agent_set_exit(agent, leave, &exits);
	spi_agent_set_fini(agent, fini, NULL);
	spi_agent_set_init_event(agent, spi_event_calls(&name, 1));
	spi_agent_go(agent);
}
