/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * An event of one's own: calls are printed from the moment on when a file appears.
 *
 *	cc -shared -fPIC event.c $(pkg-config --cflags --libs lttng-spi) -o event.so
 *	LTTNG_SPI_PAYLOAD_ARGS='directory=/run/me;file=trace-now' LD_PRELOAD=./event.so ./prog
 *	touch /run/me/trace-now
 */
#include <lttng/spi.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

static struct spi_agent *agent;
static const char *directory, *file;
static int watch;

static void *enter(struct spi_call *call, void *data)
{
	(void) data;
	fprintf(stderr, "%s\n", spi_function_name(spi_call_callee(call)));
	spi_call_propel(call);
	return NULL;
}

/* Waits for the file, and lets the agent begin. */
static void *wait_for_file(void *data)
{
	char room[sizeof(struct inotify_event) + NAME_MAX + 1] __attribute__((aligned(8)));
	char path[PATH_MAX];
	int is_there;

	(void) data;
	snprintf(path, sizeof(path), "%s/%s", directory, file);
	for (is_there = access(path, F_OK) == 0; !is_there; ) {
		const struct inotify_event *event = (const struct inotify_event *) room;
		ssize_t n = read(watch, room, sizeof(room));

		if (n < 0)
			return NULL;
		for (; (char *) event < room + n; event = (const struct inotify_event *) ((const char *) (event + 1) + event->len))
			is_there |= event->len && !strcmp(event->name, file);
	}
	close(watch);
	if (spi_agent_begin(agent, spi_event_sync()) < 0)
		fprintf(stderr, "event: %s\n", spi_agent_error(agent));
	return NULL;
}

/* What spi_agent_go() calls: the event is registered here. */
static int file_event(struct spi_agent *of, void *data)
{
	pthread_t thread;

	(void) of;
	(void) data;
	watch = inotify_init1(IN_CLOEXEC);
	if (watch < 0 || inotify_add_watch(watch, directory, IN_CREATE | IN_MOVED_TO) < 0)
		return -1;
	if (pthread_create(&thread, NULL, wait_for_file, NULL))
		return -1;
	return pthread_detach(thread);
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = { .size = sizeof(options), .version = LTTNG_SPI_VERSION };

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	directory = spi_agent_argument(agent, "directory");
	file = spi_agent_argument(agent, "file");
	if (!directory || !file) {
		fprintf(stderr, "event: directory=DIR and file=NAME are missing in LTTNG_SPI_PAYLOAD_ARGS\n");
		return;
	}
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_init_event(agent, spi_event_custom(file_event, NULL));
	spi_agent_go(agent);
}
