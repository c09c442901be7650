/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * An agent that is configured as the arguments say, and writes a line an entry.
 *
 *	set=WORD,...	parse-only, no-threads, no-fork, no-dlopen, names (payloads by the names of exported functions), default-libraries
 *	event=WHAT	none, functions, combined, after (200 ms), signal (SIGUSR2); else the default
 *	stop=1		stops when three calls have come, and says whether others came after that
 *	reason=1	says why _setjmp() is never instrumented
 */
#define _GNU_SOURCE
#include <lttng/spi.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct spi_agent *agent;
static volatile unsigned long entries, *ticks;

static void say(const char *line)
{
	spi_agent_write(agent, line, strlen(line));
}

void *entry_by_name(struct spi_call *call, void *data);
void *entry_by_name(struct spi_call *call, void *data)
{
	char line[200];

	entries++;
	snprintf(line, sizeof(line), "enter %s%s in %s%s%s\n", spi_function_name(spi_call_callee(call)),
		spi_call_is_tail_call(call) ? " by a tail call" : "", spi_object_name(spi_point_object(spi_call_point(call))),
		ticks && *ticks ? " later" : "", data ? " with data" : "");
	say(line);
	spi_call_propel(call);
	return NULL;
}

void exit_by_name(struct spi_call *call, void *data);
void exit_by_name(struct spi_call *call, void *data)
{
	(void) call;
	if (data)
		say("leave with data\n");
}

static void *stops(void *data)
{
	unsigned long at, then;

	(void) data;
	while (entries < 3)
		usleep(1000);
	if (spi_agent_stop(agent) < 0)
		say("cannot stop\n");
	at = entries;
	for (then = *ticks; *ticks < then + 5; )
		usleep(1000);
	say(at == entries ? "stopped\n" : "goes on\n");
	return NULL;
}

static struct spi_event *event_of(const char *what)
{
	const char *const names[] = { "tick", "start" };
	struct spi_event *both[2];

	if (!strcmp(what, "none"))
		return spi_event_none();
	if (!strcmp(what, "functions"))
		return spi_event_functions(names, 1);
	if (!strcmp(what, "after"))
		return spi_event_async(0, 200);
	if (!strcmp(what, "signal"))
		return spi_event_async(SIGUSR2, 0);
	both[0] = spi_event_functions(names, 1);
	both[1] = spi_event_functions(names + 1, 1);
	return spi_event_combined(both, 2);
}

static void reason_say(void)
{
	struct spi_object *object = NULL;
	char line[300];

	while ((object = spi_object_next(object)) && strcmp(spi_object_name(object), "libc.so.6"))
		;
	if (spi_object_parse(object) < 0)
		say("libc is not parsed\n");
	snprintf(line, sizeof(line), "_setjmp: %s\n", spi_function_reason(spi_function_find(object, "_setjmp")));
	say(line);
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = { .size = sizeof(options), .version = LTTNG_SPI_VERSION };
	const char *set, *event;
	pthread_t thread;

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	ticks = dlsym(RTLD_DEFAULT, "ticks");
	set = spi_agent_argument(agent, "set");
	set = set ? set : "";
	event = spi_agent_argument(agent, "event");
	spi_agent_use_default_libraries_not_to_instrument(agent);
	spi_agent_set_entry(agent, entry_by_name, NULL);
	if (strstr(set, "names")) {
		if (spi_agent_set_entry_name(agent, "no_such_function", NULL) < 0)
			say("no such function\n");
		spi_agent_set_entry_name(agent, "entry_by_name", agent);
		spi_agent_set_exit_name(agent, "exit_by_name", agent);
	}
	if (strstr(set, "parse-only"))
		spi_agent_enable_parse_only(agent, 1);
	if (strstr(set, "no-threads"))
		spi_agent_enable_threads(agent, 0);
	if (strstr(set, "no-fork"))
		spi_agent_enable_fork(agent, 0);
	if (event)
		spi_agent_set_init_event(agent, event_of(event));
	if (spi_agent_argument(agent, "reason"))
		reason_say();
	if (spi_agent_go(agent) < 0)
		say(spi_agent_error(agent));
	if (spi_agent_argument(agent, "stop"))
		pthread_create(&thread, NULL, stops, NULL);
}
