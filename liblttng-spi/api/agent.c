/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The agent: what a payload file's constructor says, until it lets the agent go. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "liblttng-spi/api/internal.h"

#define ARGUMENTS	"LTTNG_SPI_PAYLOAD_ARGS"

const char *spi_text_keep(const char *text, size_t size)
{
	size_t n = strlen(text);
	char *kept = n < size ? spi_alloc(n + 1) : NULL;

	if (kept)
		memcpy(kept, text, n + 1);
	return kept;
}

/* The file that the code at an address comes from, without directories. */
static const char *file_name(const void *address)
{
	const char *slash;
	Dl_info info;

	if (!dladdr(address, &info) || !info.dli_fname)
		return "payload";
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

/* LTTNG_SPI_PAYLOAD_ARGS, a line an argument. */
static const char *arguments_of_environment(void)
{
	const char *text = getenv(ARGUMENTS);
	char *kept = (char *) (text ? spi_text_keep(text, SPI_RULE_TEXT_MAX) : NULL);

	for (char *c = kept; c && *c; c++)
		if (*c == ';')
			*c = '\n';
	return kept;
}

/* name NULL: the payload has none yet. */
static void say(const char *name, const char *why)
{
	char line[500];

	spi_format(line, sizeof(line), "payload%s%s: %s", name ? " " : "", name ? name : "", why);
	spi_client_say(line);
}

void spi_agent_refuse(const char *why)
{
	if (spi_client_loading_arguments)
		spi_format(spi_client_loading_why, sizeof(spi_client_loading_why), "%s", why);
	else
		say(NULL, why);
}

SPI_API struct spi_agent *spi_agent_create(const struct spi_agent_options *options)
{
	struct spi_agent_options asked = { 0 };
	struct spi_agent *agent;
	const char *name;

	if (options)
		memcpy(&asked, options, options->size < sizeof(asked) ? options->size : sizeof(asked));
	if (asked.version > LTTNG_SPI_VERSION) {
		spi_agent_refuse(
			"it is built for a newer interface (lttng/spi.h) than this agent's: install that lttng-spi");
		return NULL;
	}
	name = asked.name ? asked.name : file_name(__builtin_return_address(0));
	agent = spi_alloc(sizeof(*agent));
	if (agent)
		agent->client = spi_client_make(name, asked.flags);
	if (!agent || !agent->client) {
		spi_agent_refuse("there are too many payloads at the same time, or no memory");
		return NULL;
	}
	spi_clock_find();
	agent->client->owner = agent;
	spi_agent_context_look(agent, __builtin_return_address(0));
	agent->client->limit_us = asked.limit_us;
	agent->arguments = spi_client_loading_arguments ? spi_client_loading_arguments : arguments_of_environment();
	agent->client->arguments = agent->arguments;
	return agent;
}

SPI_API const char *spi_agent_error(const struct spi_agent *agent)
{
	return agent ? agent->error : "there is no agent";
}

int spi_agent_configurable(struct spi_agent *agent)
{
	if (!agent)
		return -EINVAL;
	agent->error[0] = 0;
	if (!agent->has_gone)
		return 0;
	spi_format(agent->error, sizeof(agent->error), "the agent goes already");
	return -EINVAL;
}

SPI_API int spi_agent_set_entry(struct spi_agent *agent, spi_entry_payload *entry, void *data)
{
	int r = spi_agent_configurable(agent);

	if (r == 0) {
		agent->client->entry = entry;
		agent->client->entry_data = data;
	}
	return r;
}

SPI_API int spi_agent_set_exit(struct spi_agent *agent, spi_exit_payload *exit, void *data)
{
	int r = spi_agent_configurable(agent);

	if (r == 0) {
		agent->client->exit = exit;
		agent->client->exit_data = data;
	}
	return r;
}

/* An exported function of the file that `caller` is in, or of another one. */
static void *function_named(struct spi_agent *agent, const char *name, const void *caller)
{
	void *handle, *found = NULL;
	Dl_info info;

	if (dladdr(caller, &info) && info.dli_fname && (handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD))) {
		found = dlsym(handle, name);
		dlclose(handle);
	}
	if (!found)
		found = dlsym(RTLD_DEFAULT, name);
	if (!found)
		spi_format(agent->error, sizeof(agent->error), "%s: no loaded library exports this function", name);
	return found;
}

SPI_API int spi_agent_set_entry_name(struct spi_agent *agent, const char *name, void *data)
{
	int r = spi_agent_configurable(agent);
	void *function = r == 0 ? function_named(agent, name, __builtin_return_address(0)) : NULL;

	if (r == 0 && !function)
		return -ENOENT;
	return r < 0 ? r : spi_agent_set_entry(agent, (spi_entry_payload *) function, data);
}

SPI_API int spi_agent_set_exit_name(struct spi_agent *agent, const char *name, void *data)
{
	int r = spi_agent_configurable(agent);
	void *function = r == 0 ? function_named(agent, name, __builtin_return_address(0)) : NULL;

	if (r == 0 && !function)
		return -ENOENT;
	return r < 0 ? r : spi_agent_set_exit(agent, (spi_exit_payload *) function, data);
}

static int names_add(struct spi_agent *agent, struct spi_rule_names *to, const char *const *globs, size_t count)
{
	int r = spi_agent_configurable(agent);

	for (size_t i = 0; r == 0 && i < count; i++) {
		if (to->count == SPI_RULE_LIST_MAX) {
			agent->refused = "more libraries or functions are to be left alone than fit: use patterns";
			spi_format(agent->error, sizeof(agent->error), "at most %u of them: use patterns", SPI_RULE_LIST_MAX);
			return -E2BIG;
		}
		to->name[to->count] = spi_text_keep(globs[i], SPI_RULE_FUNCTION_MAX);
		if (!to->name[to->count])
			return -ENOMEM;
		to->count++;
	}
	return r;
}

SPI_API int spi_agent_set_libraries_not_to_instrument(struct spi_agent *agent, const char *const *globs, size_t count)
{
	return names_add(agent, &agent->exclude_lib, globs, count);
}

SPI_API int spi_agent_set_functions_not_to_instrument(struct spi_agent *agent, const char *const *globs, size_t count)
{
	return names_add(agent, &agent->exclude, globs, count);
}

SPI_API int spi_agent_use_default_libraries_not_to_instrument(struct spi_agent *agent)
{
	static const char *const usual[] = {
		"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1", "libstdc++.so.6",
	};

	return names_add(agent, &agent->exclude_lib, usual, sizeof(usual) / sizeof(usual[0]));
}

static int follow(struct spi_agent *agent, uint32_t what, int is_on)
{
	int r = spi_agent_configurable(agent);

	if (r == 0)
		agent->unfollowed = is_on ? agent->unfollowed & ~what : agent->unfollowed | what;
	return r;
}

SPI_API int spi_agent_enable_parse_only(struct spi_agent *agent, int is_on)
{
	int r = spi_agent_configurable(agent);

	if (r == 0)
		agent->parse_only = !!is_on;
	return r;
}

SPI_API int spi_agent_enable_threads(struct spi_agent *agent, int is_on)
{
	return follow(agent, SPI_FOLLOW_THREADS, is_on);
}

SPI_API int spi_agent_enable_dlopen(struct spi_agent *agent, int is_on)
{
	return follow(agent, SPI_FOLLOW_DLOPEN, is_on);
}

SPI_API int spi_agent_enable_fork(struct spi_agent *agent, int is_on)
{
	int r = follow(agent, SPI_FOLLOW_FORK, is_on);

	if (r == 0)
		agent->client->leaves_children = !is_on;
	return r;
}

SPI_API int spi_agent_set_init_event(struct spi_agent *agent, struct spi_event *event)
{
	int r = spi_agent_configurable(agent);

	if (r == 0 && !event) {
		agent->refused = "there is no event: it has too many names, or there was no memory";
		spi_format(agent->error, sizeof(agent->error), "%s", agent->refused);
		return -EINVAL;
	}
	if (r == 0)
		agent->event = event;
	return r;
}

static void fini(struct spi_client *client)
{
	struct spi_agent *agent = client->owner;

	agent->fini(agent, agent->fini_data);
}

SPI_API int spi_agent_set_fini(struct spi_agent *agent, void (*function)(struct spi_agent *agent, void *data), void *data)
{
	int r = spi_agent_configurable(agent);

	if (r == 0) {
		agent->fini = function;
		agent->fini_data = data;
		agent->client->fini = function ? fini : NULL;
	}
	return r;
}

SPI_API long spi_agent_write(struct spi_agent *agent, const char *text, size_t size)
{
	(void) agent;
	return spi_client_write(text, size);
}

SPI_API const char *spi_agent_argument(struct spi_agent *agent, const char *name)
{
	const char *line = agent ? agent->arguments : NULL;
	size_t n = strlen(name);

	if (agent)
		spi_client_asks(agent->client, name);
	for (; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t size = strcspn(line, "\n");
		char *value;

		if (strncmp(line, name, n) || line[n] != '=')
			continue;
		value = spi_alloc(size - n);
		if (value)
			memcpy(value, line + n + 1, size - n - 1);
		return value;
	}
	return NULL;
}

SPI_API int spi_agent_go(struct spi_agent *agent)
{
	static struct spi_event sync = { .kind = SPI_EVENT_SYNC };
	const struct spi_event *event;
	int r = spi_agent_configurable(agent);

	if (r < 0)
		return r;
	if (!agent->client->entry && !agent->client->exit && !agent->parse_only && !agent->client->observer) {
		spi_format(agent->error, sizeof(agent->error), "it has no payload");
		spi_agent_refuse(agent->error);
		return -EINVAL;
	}
	if (agent->refused) {	/* nothing is left out silently */
		spi_format(agent->error, sizeof(agent->error), "%s", agent->refused);
		spi_agent_refuse(agent->error);
		return -E2BIG;
	}
	spi_agent_environment(agent);
	agent->has_gone = 1;
	if (spi_client_loading_arguments) {	/* a rule says what is instrumented */
		spi_client_loading = agent->client;
		return 0;
	}
	r = spi_agent_watch_begin(agent);
	if (r < 0 || (!agent->client->entry && !agent->client->exit && !agent->parse_only && !agent->observer.function))
		return r;
	event = agent->event ? agent->event : &sync;
	r = event->kind == SPI_EVENT_CUSTOM ? event->begin(agent, event->data) : spi_agent_rules_begin(agent, event);
	if (r < 0 || agent->error[0])	/* one of several functions may be refused */
		say(agent->client->name, agent->error[0] ? agent->error : "it cannot begin");
	return r;
}

SPI_API int spi_agent_begin(struct spi_agent *agent, struct spi_event *event)
{
	if (!agent || !event || event->kind == SPI_EVENT_CUSTOM)
		return -EINVAL;
	return spi_agent_rules_begin(agent, event);
}

SPI_API int spi_agent_stop(struct spi_agent *agent)
{
	if (!agent)
		return -EINVAL;
	spi_agent_rules_end(agent);
	spi_clients_end(1u << agent->client->number);
	spi_observe_detach(agent->client);
	return 0;
}
