/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Channels to other processes: payloads that go along them, and what a payload is told of a call's channel. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "liblttng-spi/ipc/ipc.h"
#include "liblttng-spi/api/internal.h"

/* ---- by functions' names ---- */

static const char *const writers[] = {
	"write", "send", "writev", "connect", "fputs", "putchar", "fputc", "putc", "fwrite", "sendfile", "sendto",
	"sendmsg", NULL
};
static const char *const readers[] = {	/* libc's getc() and fgetc() are one function */
	"read", "recv", "readv", "fgets", "fgetc", "getc", "fread", "accept", "accept4", "recvfrom", "recvmsg", NULL
};
static const char *const streams[] = {
	"fputs", "putchar", "fputc", "putc", "fwrite", "fgets", "fgetc", "getc", "fread", NULL
};

static int ends_with(const char *name, size_t n, const char *end)
{
	const size_t m = strlen(end);

	return n > m && !memcmp(name + n - m, end, m) ? (int) m : 0;
}

/* By the callee's names: libc's own has more about it where it calls itself, checks sizes or takes no lock. */
static int is_named(const struct spi_call *call, const char *const *names)
{
	static const char *const before[] = { "GI_", "libc_", "IO_", NULL };
	static const char *const behind[] = { "_chk", "_unlocked", "64", NULL };
	const char *name = spi_function_mangled_name(spi_call_callee(call));
	size_t n;

	name += strspn(name, "_");
	for (int i = 0; before[i]; i++)
		if (!strncmp(name, before[i], strlen(before[i]))) {
			name += strlen(before[i]);
			name += strspn(name, "_");
		}
	n = strcspn(name, "@");
	for (int i = 0; behind[i]; i++)
		n -= (size_t) ends_with(name, n, behind[i]);
	for (; *names; names++)
		if (strlen(*names) == n && !memcmp(name, *names, n))
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
	const uint32_t trees = call->client->trees;

	return !(__atomic_load_n(&spi_tree_awaiting, __ATOMIC_ACQUIRE) & trees) ||
		(__atomic_load_n(&spi_tree_existing, __ATOMIC_ACQUIRE) & trees);
}

SPI_API int spi_call_channel(const struct spi_call *call, struct spi_channel *channel)
{
	const int is_write = spi_call_is_ipc_write(call);
	struct spi_channel filled = { .size = sizeof(filled) };
	int r;

	if (!channel || channel->size < offsetof(struct spi_channel, name) || spi_is_exit(call) || is_named(call, streams) ||
			(!is_write && !spi_call_is_ipc_read(call)))
		return -EINVAL;
	r = spi_ipc_describe(*(const int *) spi_frame_argument_at(call->frame, 0), is_write, &filled);
	if (r < 0)
		return r;
	filled.size = channel->size < sizeof(filled) ? channel->size : sizeof(filled);
	memcpy(channel, &filled, filled.size);
	return 0;
}

/* ---- configuration ---- */

SPI_API int spi_agent_enable_ipc(struct spi_agent *agent, int is_on)
{
	int r = spi_agent_configurable(agent);

	if (r == 0)
		agent->client->follows = is_on != 0;
	return r;
}

SPI_API int spi_agent_set_ipc_worker(struct spi_agent *agent, const struct spi_ipc_worker *worker)
{
	int r = spi_agent_configurable(agent);

	if (r == 0)
		r = spi_ipc_worker_set(agent->client, worker);
	if (r == -ENOSPC)
		spi_format(agent->error, sizeof(agent->error), "the process has four workers for channels already");
	else if (r == -EINVAL && !agent->error[0])
		spi_format(agent->error, sizeof(agent->error),
			"a worker for channels has a function 'channel', and as its name a word of at most 15 letters");
	return r;
}
