/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A payload for calls that read and write channels. Arguments: ipc=1, go along them; list=1, a line for each such
 * call: "read|write FUNCTION DESCRIPTOR STARTED CHANNEL PEER..."; names=FUNCTION,..., of a call of each of these: a
 * line "NAME 1|0 1|0", is it a read, a write. At the end the bytes that were read and written through descriptors.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <lttng/spi.h>

static struct spi_agent *agent;
static uint64_t moved[2];
static int is_listing, is_naming;

static void say(const char *line)
{
	spi_agent_write(agent, line, strlen(line));
}

static void list(struct spi_call *call, int is_write)
{
	struct spi_arguments arguments = { 0 };
	struct spi_channel channel = { .size = sizeof(channel) };
	const int fd = *(int *) spi_call_pop_argument(call, &arguments, sizeof(int)), r = spi_call_channel(call, &channel);
	char line[400];
	int n = snprintf(line, sizeof(line), "%s %s %d %d ", is_write ? "write" : "read",
		spi_function_name(spi_call_callee(call)), fd, spi_call_can_start_tracing(call));

	n += snprintf(line + n, sizeof(line) - n, "%s", r < 0 ? strerrorname_np(-r) : channel.name);
	for (int i = 0; r == 0 && i < SPI_CHANNEL_PEERS && channel.peers[i]; i++)
		n += snprintf(line + n, sizeof(line) - n, " %d", channel.peers[i]);
	line[n++] = '\n';
	line[n] = 0;
	say(line);
}

static void *enter(struct spi_call *call, void *unused)
{
	const int is_read = spi_call_is_ipc_read(call), is_write = spi_call_is_ipc_write(call);
	char line[200];

	(void) unused;
	if (is_naming) {
		snprintf(line, sizeof(line), "%s %d %d\n", spi_function_name(spi_call_callee(call)), is_read, is_write);
		say(line);
	}
	if (is_listing && (is_read || is_write))
		list(call, is_write);
	spi_call_propel(call);
	return (void *) (uintptr_t) (is_read ? 1 : is_write ? 2 : 0);
}

/* stdio counts what its own calls of read() and write() move. */
static void leave(struct spi_call *call, void *unused)
{
	const uintptr_t what = (uintptr_t) spi_call_user_data(call);
	const char *name = spi_function_mangled_name(spi_call_callee(call));
	const int64_t result = (int64_t) spi_call_return_value(call);

	(void) unused;
	if (!what || result <= 0 || strstr(name, "get") || strstr(name, "put") || strstr(name, "fread") ||
			strstr(name, "fwrite") || strstr(name, "accept") || strstr(name, "connect"))
		return;
	__atomic_fetch_add(&moved[what - 1], (uint64_t) result, __ATOMIC_RELAXED);
}

static void fini(struct spi_agent *of, void *unused)
{
	char line[100];

	(void) of;
	(void) unused;
	snprintf(line, sizeof(line), "read %" PRIu64 " written %" PRIu64 "\n", moved[0], moved[1]);
	say(line);
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = {
		.size = sizeof(options), .version = LTTNG_SPI_VERSION, .flags = SPI_PAYLOAD_SIGNAL_SAFE | SPI_PAYLOAD_SMALL_STACK,
	};
	const char *names[16];
	char *text;
	size_t count = 0;

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	is_listing = spi_agent_argument(agent, "list") != NULL;
	if (spi_agent_argument(agent, "ipc"))
		spi_agent_enable_ipc(agent, 1);
	text = (char *) spi_agent_argument(agent, "names");
	is_naming = text != NULL;
	for (char *name = text ? strtok(text, ",") : NULL; name && count < 16; name = strtok(NULL, ","))
		names[count++] = name;
	if (is_naming)
		spi_agent_set_init_event(agent, spi_event_calls(names, count));
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_exit(agent, leave, NULL);
	spi_agent_set_fini(agent, fini, NULL);
	if (spi_agent_go(agent) < 0)
		fprintf(stderr, "not begun: %s\n", spi_agent_error(agent));
}
