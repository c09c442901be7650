/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A payload for calls that read and write channels. Arguments:
 *
 *	ipc=1			go along them
 *	list=1			a line for each such call: "read|write FUNCTION DESCRIPTOR STARTED CHANNEL PEER...", and for each
 *				of handle(): "handle STARTED"
 *	names=1			of each call that main() makes a line "FUNCTION IS-READ IS-WRITE", and nothing else
 *	calls=FUNCTION		for this function alone
 *	worker=FILE		a worker for that file, whose positions the agent counts; a line for each thing that it is told
 *	inject=1		it brings in the other end itself
 *	can-start=N		its channel's trees begin at the Nth receive
 *	fault=1			it faults
 *
 * At the end the bytes that were read and written by way of channels.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <lttng/spi.h>

static struct spi_agent *agent;
static uint64_t moved[2];
static int is_listing, is_naming;

static void say(const char *line)
{
	spi_agent_write(agent, line, strlen(line));
}

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...)
{
	char line[400];
	va_list values;

	va_start(values, format);
	vsnprintf(line, sizeof(line), format, values);
	va_end(values);
	say(line);
}

/* ---- the worker ---- */

static const char *path;
static int is_injecting, is_faulting, may_start, asked;

static int channel(int fd, int is_write, int64_t offset, struct spi_channel *channel, void *data)
{
	struct stat file;

	(void) fd;
	(void) is_write;
	(void) offset;
	(void) data;
	if (is_faulting)
		*(volatile int *) 0 = 1;
	if (stat(path, &file) < 0 || channel->device != file.st_dev || channel->inode != file.st_ino)
		return 0;
	channel->id = 4711;
	channel->position = SPI_CHANNEL_COUNTED;
	channel->peers[0] = 12;
	strcpy(channel->name, "the file");
	return 1;
}

static int inject(const struct spi_channel *channel, void *data)
{
	(void) data;
	tell("inject %s %d\n", channel->name, channel->peers[0]);
	return is_injecting;
}

static int remote(const struct spi_channel *channel, int is_on, void *data)
{
	(void) data;
	tell("remote %s %d\n", channel->name, is_on);
	return 0;
}

static int local(const struct spi_channel *channel, int is_on, void *data)
{
	(void) data;
	tell("local %s %d\n", channel->name, is_on);
	return 0;
}

static int can_start(int fd, const struct spi_channel *channel, void *data)
{
	(void) data;
	tell("can-start %s %s\n", channel->name, fd > 2 ? "fd" : "none");
	return ++asked >= may_start;
}

static void closes(int fd, void *data)
{
	struct stat st, file;

	(void) data;
	if (fstat(fd, &st) == 0 && stat(path, &file) == 0 && st.st_ino == file.st_ino)
		tell("close\n");
}

static void worker_set(void)
{
	const struct spi_ipc_worker worker = {
		.size = sizeof(worker), .name = "own-file", .channel = channel, .inject = inject, .set_remote_start = remote,
		.set_local_start = local, .can_start = may_start ? can_start : NULL, .close = closes,
	};

	if (spi_agent_set_ipc_worker(agent, &worker) < 0)
		tell("refused: %s\n", spi_agent_error(agent));
}

/* ---- the payloads ---- */

static void list(struct spi_call *call, int is_write, const struct spi_channel *channel, int r)
{
	struct spi_arguments arguments = { 0 };
	const int fd = *(int *) spi_call_pop_argument(call, &arguments, sizeof(int));
	char line[400];
	int n = snprintf(line, sizeof(line), "%s %s %d %d ", is_write ? "write" : "read",
		spi_function_name(spi_call_callee(call)), r == 0 ? fd : -1, spi_call_can_start_tracing(call));

	n += snprintf(line + n, sizeof(line) - (size_t) n, "%s", r < 0 ? strerrorname_np(-r) : channel->name);
	for (int i = 0; r == 0 && i < SPI_CHANNEL_PEERS && channel->peers[i]; i++)
		n += snprintf(line + n, sizeof(line) - (size_t) n, " %d", channel->peers[i]);
	tell("%s\n", line);
}

static void *enter(struct spi_call *call, void *unused)
{
	const int is_read = spi_call_is_ipc_read(call), is_write = spi_call_is_ipc_write(call);
	const char *name = spi_function_name(spi_call_callee(call));
	struct spi_channel channel = { .size = sizeof(channel) };
	int r = -1;

	(void) unused;
	if (is_naming && strcmp(name, "main")) {
		tell("%s %d %d\n", name, is_read, is_write);
		return NULL;
	}
	if (is_read || is_write)
		r = spi_call_channel(call, &channel);
	if (is_listing && (is_read || is_write))
		list(call, is_write, &channel, r);
	else if (is_listing && !strcmp(name, "handle"))
		tell("handle %d\n", spi_call_can_start_tracing(call));
	spi_call_propel(call);
	return (void *) (uintptr_t) (r < 0 || strstr(name, "accept") ? 0 : is_read ? 1 : 2);
}

static void leave(struct spi_call *call, void *unused)
{
	const uintptr_t what = (uintptr_t) spi_call_user_data(call);
	const int64_t result = (int64_t) spi_call_return_value(call);

	(void) unused;
	if (what && result > 0)
		__atomic_fetch_add(&moved[what - 1], (uint64_t) result, __ATOMIC_RELAXED);
}

static void fini(struct spi_agent *of, void *unused)
{
	(void) of;
	(void) unused;
	tell("moved %" PRIu64 " %" PRIu64 "\n", moved[0], moved[1]);
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = {
		.size = sizeof(options), .version = LTTNG_SPI_VERSION, .flags = SPI_PAYLOAD_SIGNAL_SAFE | SPI_PAYLOAD_SMALL_STACK,
	};
	const char *call;

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	is_listing = spi_agent_argument(agent, "list") != NULL;
	if (spi_agent_argument(agent, "ipc"))
		spi_agent_enable_ipc(agent, 1);
	is_naming = spi_agent_argument(agent, "names") != NULL;
	path = spi_agent_argument(agent, "worker");
	is_faulting = spi_agent_argument(agent, "fault") != NULL;
	is_injecting = spi_agent_argument(agent, "inject") != NULL;
	if (spi_agent_argument(agent, "can-start"))
		may_start = atoi(spi_agent_argument(agent, "can-start"));
	if (path)
		worker_set();
	call = spi_agent_argument(agent, "calls");
	if (call)
		spi_agent_set_init_event(agent, spi_event_calls(&call, 1));
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_exit(agent, leave, NULL);
	spi_agent_set_fini(agent, fini, NULL);
	if (spi_agent_go(agent) < 0)
		fprintf(stderr, "not begun: %s\n", spi_agent_error(agent));
}
