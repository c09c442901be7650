/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Payloads that do next to nothing, for what a call costs then. LTTNG_SPI_PAYLOAD_ARGS:
 *	function=NAME	whose calls; without it the tree below main()
 *	do=empty	an entry and an exit payload that are empty
 *	do=count	an entry payload that counts
 * Built with -mgeneral-regs-only and -DFLAGS=SPI_PAYLOAD_GENERAL_REGISTERS, or plain.
 */
#include <lttng/spi.h>
#include <string.h>

static uint64_t count;

static void *enter(struct spi_call *call, void *data)
{
	(void) call;
	(void) data;
	return NULL;
}

static void leave(struct spi_call *call, void *data)
{
	(void) call;
	(void) data;
}

static void *enter_count(struct spi_call *call, void *data)
{
	(void) call;
	++*(uint64_t *) data;
	return NULL;
}

/* In a tree: goes into what the callee calls, too. */
static void *enter_tree(struct spi_call *call, void *data)
{
	(void) data;
	spi_call_propel(call);
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = { .size = sizeof(options), .version = LTTNG_SPI_VERSION, .flags = FLAGS };
	struct spi_agent *agent = spi_agent_create(&options);
	const char *plain = "base_*";	/* what the calls are held against */
	const char *name = agent ? spi_agent_argument(agent, "function") : NULL, *what = agent ? spi_agent_argument(agent, "do") : "";

	if (!agent)
		return;
	if (what && !strcmp(what, "count")) {
		spi_agent_set_entry(agent, enter_count, &count);
	} else {
		spi_agent_set_entry(agent, name ? enter : enter_tree, NULL);
		spi_agent_set_exit(agent, leave, NULL);
	}
	spi_agent_set_functions_not_to_instrument(agent, &plain, 1);
	if (name)
		spi_agent_set_init_event(agent, spi_event_calls(&name, 1));
	spi_agent_go(agent);
}
