/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A payload that calls a cancellation point, write(), before and after each call. */
#include <lttng/spi.h>
#include <fcntl.h>
#include <unistd.h>

static int null;

static void *enter(struct spi_call *call, void *data)
{
	if (write(null, "enter", 5) < 0)
		return data;
	spi_call_propel(call);
	return data;
}

static void leave(struct spi_call *call, void *data)
{
	(void) call;
	(void) data;
	if (write(null, "leave", 5) < 0)
		return;
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = { .size = sizeof(options), .version = LTTNG_SPI_VERSION };
	struct spi_agent *agent = spi_agent_create(&options);

	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_exit(agent, leave, NULL);
	spi_agent_go(agent);
}
