/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Channels between processes: what is known of them by functions' names. Call trees of LTTng's go along
 * them (ipc/); payloads do not yet.
 */
#include <errno.h>
#include <string.h>
#include "liblttng-spi/api/internal.h"

static const char *const writers[] = {
	"write", "send", "writev", "connect", "fputs", "putchar", "fputc", "fwrite", "sendfile", "sendto",
	"sendmsg", NULL
};
static const char *const readers[] = {
	"read", "recv", "readv", "fgets", "fgetc", "fread", "accept", "accept4", "recvfrom", "recvmsg", NULL
};

/* By the callee's names: libc's own has leading underscores where it calls itself. */
static int is_named(const struct spi_call *call, const char *const *names)
{
	const char *name = spi_function_mangled_name(spi_call_callee(call));

	while (*name == '_')
		name++;
	if (!strncmp(name, "libc_", 5))
		name += 5;
	if (!strncmp(name, "IO_", 3))
		name += 3;
	for (; *names; names++)
		if (!strcmp(name, *names))
			return 1;
	return 0;
}

SPI_API int spi_call_is_ipc_read(const struct spi_call *call)
{
	return is_named(call, readers);
}

SPI_API int spi_call_is_ipc_write(const struct spi_call *call)
{
	return is_named(call, writers);
}

SPI_API int spi_call_can_start_tracing(const struct spi_call *call)
{
	(void) call;
	return 1;
}

static int refuse(struct spi_agent *agent)
{
	int r = spi_agent_configurable(agent);

	if (r < 0)
		return r;
	spi_format(agent->error, sizeof(agent->error), "payloads do not follow channels to other processes; lttng trace --tree --ipc does");
	return -ENOTSUP;
}

SPI_API int spi_agent_enable_ipc(struct spi_agent *agent, int is_on)
{
	return is_on ? refuse(agent) : spi_agent_configurable(agent);
}

SPI_API int spi_agent_set_ipc_worker(struct spi_agent *agent, const struct spi_ipc_worker *worker)
{
	return worker ? refuse(agent) : spi_agent_configurable(agent);
}
