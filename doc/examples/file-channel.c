/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A worker for channels of a further kind: processes that tell each other something by a file, which one appends to and
 * others read from. The payloads print which function calls which, and each message.
 *
 *	cc -shared -fPIC file-channel.c $(pkg-config --cflags --libs lttng-spi) -o file-channel.so
 *	lttng trace --payload ./file-channel.so:file=/tmp/messages --tree --ipc ./writer
 *
 * A process that has the file open gets the payload just before the first message is written, and the payload begins
 * there with the read() that has the message.
 */
#include <lttng/spi.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct spi_agent *agent;
static const char *path;
static struct stat file;

/* ---- the worker: it may run in any thread, in any state ---- */

/* The file may come to be later; then it stays the one that it is. */
static int is_file(const struct spi_channel *channel)
{
	if (!file.st_ino && stat(path, &file) < 0)
		return 0;
	return channel->device == file.st_dev && channel->inode == file.st_ino;
}

/*
 * The channel is the file, and the position of a message its offset there. What is appended comes behind all that the
 * file has.
 */
static int channel(int fd, int is_write, int64_t offset, struct spi_channel *channel, void *data)
{
	struct stat st;

	(void) data;
	if (!is_file(channel))
		return 0;
	channel->id = channel->device << 32 ^ channel->inode;
	if (is_write && fcntl(fd, F_GETFL) & O_APPEND && fstat(fd, &st) == 0)
		channel->position = (uint64_t) st.st_size;
	else
		channel->position = (uint64_t) (offset >= 0 ? offset : lseek(fd, 0, SEEK_CUR));
	strncpy(channel->name, path, sizeof(channel->name) - 1);
	return 1;
}

/* ---- the payloads ---- */

static void *enter(struct spi_call *call, void *data)
{
	struct spi_function *caller = spi_call_caller(call), *callee = spi_call_callee(call);
	struct spi_channel channel = { .size = sizeof(channel) };
	const int is_write = spi_call_is_ipc_write(call);
	char line[400];
	int n;

	(void) data;
	n = snprintf(line, sizeof(line), "[%d] %s -> %s\n", (int) getpid(), spi_function_name(caller),
		spi_function_name(callee));
	spi_agent_write(agent, line, (size_t) n);
	if ((is_write || spi_call_is_ipc_read(call)) && spi_call_channel(call, &channel) == 0) {
		n = snprintf(line, sizeof(line), "[%d] %s %s at %llu\n", (int) getpid(), is_write ? "to" : "from", channel.name,
			(unsigned long long) channel.position);
		spi_agent_write(agent, line, (size_t) n);
	}
	if (spi_function_object(callee) == spi_object_executable())	/* what libraries do by themselves is not shown */
		spi_call_propel(call);
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = {
		.size = sizeof(options), .version = LTTNG_SPI_VERSION, .name = "file-channel",
	};
	const struct spi_ipc_worker worker = { .size = sizeof(worker), .name = "file", .channel = channel };

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	path = spi_agent_argument(agent, "file");
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_enable_ipc(agent, 1);
	if (path && spi_agent_set_ipc_worker(agent, &worker) < 0)
		fprintf(stderr, "file-channel: %s\n", spi_agent_error(agent));
	spi_agent_go(agent);
}
